// Package inbound receives mail: for temporary inboxes and for the receiving domains of
// organizations.
//
// A message takes one way, whether it comes by SMTP (package smtpd) or from Amazon SES. The
// receiver asks a [Router] for the [Route] of each recipient, and passes the message to
// [Intake.Accept], which returns when the message and the task to process it are on disk. Only
// then may the receiver reply with success. Later a [Processor] judges and
// parses the message, stores its parts, and gives it to the [Destination] of its routes.
//
// A message that cannot be delivered is logged or dropped, and counted. No bounce is ever sent.
package inbound
