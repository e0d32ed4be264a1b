// Package sentmail describes the messages that the simulated sending account keeps with
// their content, so that a person can read what was sent. It has the types that the account
// and the dashboard share. Package simulator stores the messages.
package sentmail

import "time"

// Outcome is the result that the events of a message report.
type Outcome string

// The outcomes, from the least to the most severe. A message to several recipients has the
// most severe outcome of them.
const (
	Delivered Outcome = "delivered"
	// Complained means that a recipient complains, or that the account suppresses the
	// recipient because of an earlier complaint.
	Complained Outcome = "complained"
	Bounced    Outcome = "bounced"
	// RenderingFailed means that the template has a variable without a value.
	RenderingFailed Outcome = "rendering_failed"
	// Rejected means that the account does not send the content.
	Rejected Outcome = "rejected"
)

// Summary is a kept message without its content.
type Summary struct {
	ID     string // the id that the account returned for the message
	SentAt time.Time
	From   string
	// Recipients are those in To, Cc and Bcc, in this order, with or without display names.
	Recipients []string
	Subject    string
	// ConfigurationSet is "" if the message named none.
	ConfigurationSet string
	Test             bool
	Outcome          Outcome
}

// Mail is a kept message. The content of a message with a template is the rendered one.
type Mail struct {
	Summary
	Text, HTML string
	// Headers are the header fields in their order. Bcc is not among them.
	Headers []Header
	Tags    map[string]string
	// Cut is true if Text or HTML was longer than the account keeps. Both are then shorter
	// than the message was.
	Cut bool
}

// Header is one header field of a message.
type Header struct{ Name, Value string }

// Query selects kept messages.
type Query struct {
	// Search is a part of a recipient or of the subject, in upper or lower case. "" selects
	// all messages.
	Search string
	// Cursor is the cursor of the page, as the page before returned it; "" means the first
	// page.
	Cursor string
	// Limit is the maximum number of messages of the page, from 1 to MaxPage. Other values
	// mean MaxPage.
	Limit int
}

// MaxPage is the maximum number of messages on a page.
const MaxPage = 100
