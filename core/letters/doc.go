// Package letters writes the mails of the service to its people: their words and their
// form, as text and as HTML. [letters.Sender] is the port through which they leave.
//
// It does not decide when a mail is due: core/people does. Its adapter smtpmail speaks
// to the operator's own server. A mail never goes through an organization's sending
// account, whose owner could read it.
package letters
