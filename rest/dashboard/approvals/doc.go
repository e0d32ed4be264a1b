// Package approvals has the dashboard's pages with which people keep control of the mail
// that applications and API keys send: the approvals, the policies that hold sends back, the
// daily limits of applications, and the switch that stops all mail.
//
// No operation does any of this, so no token can. The handlers call core/approving and
// core/approvals in transactions that check the visitor's permission.
//
// Names, subjects, reasons and the mail itself are texts of other people.
package approvals
