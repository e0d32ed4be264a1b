// Package letters writes the mails that the service sends to the users of its dashboard and to addresses that they verify, as
// text and as HTML. [letters.Sender] is the interface that sends them.
//
// The package does not decide when a mail is due: core/people, core/passwordchange and
// core/senders do.
// Package smtpmail implements Sender with the operator's own SMTP server. A mail never goes
// through an organization's sending account, whose owner could read it.
package letters
