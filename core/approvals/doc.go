// Package approvals lets people keep control of the mail that applications and API keys
// send.
//
// A [Policy] of an organization, or of one of its applications, says which sends wait for a
// person. The [Gate] holds such a send back: the broadcast stays a draft, and an [Approval]
// freezes exactly what was asked for. On the dashboard, a person with the permission
// approves or rejects it through the [Desk]. No operation and no scope does that, so no
// token can.
//
//	pending ──▶ approved, rejected, voided (the draft changed), expired (72 hours)
//
// A scheduled send is compared with the policy again when it starts, because its audience,
// its template or the policy may have changed since.
//
// [Limits] has the two other brakes: the maximum number of recipients a day of an
// application, and the switch that stops all mail. Package handover applies both.
package approvals
