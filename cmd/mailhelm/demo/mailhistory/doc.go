// Package mailhistory computes the email events of the last 90 days for the demo: what Amazon SES would
// have reported about the mail of its invented organization.
package mailhistory
