// Package approvals has the records with which people keep control of the mail that
// applications and API keys send.
//
// A [Policy] of an organization, or of one of its applications, says which sends wait for a
// person. An [Approval] is such a send, with what a person decides about:
//
//	pending ──▶ approved, rejected, voided (the draft changed), expired (72 hours)
//
// Package approving holds sends back and decides. [Limits] has the two other brakes: the
// maximum number of recipients a day of an application, and the switch that stops all mail.
// Package handover applies both.
package approvals
