// Package ses receives mail by Amazon SES: SES stores a message in a bucket of the
// organization, and publishes a notification by Amazon SNS. Package rest/ingest checks the
// signature of the notification. This package reads the notification, fetches the message and
// passes it to the same [inbound.Intake] as our SMTP server.
//
// SNS sends a notification again until it is answered with success, so a message is accepted
// before that answer.
package ses
