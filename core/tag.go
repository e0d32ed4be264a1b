package core

// The tags that Mailhelm adds to the messages that it sends. SES returns a message's tags
// with every event about it. So Mailhelm can read from such an event the message's
// template, and whether the message was a test.
const (
	// TestTag marks a message that was sent as a test.
	TestTag = "mailhelm_test"
	// TemplateTag has the name of the template of the message.
	TemplateTag = "mailhelm_template"
	// SendTag and RecipientTag name the send and the recipient for which Mailhelm passed the
	// message to the account; see package handover.
	SendTag      = "mailhelm_send"
	RecipientTag = "mailhelm_recipient"
)
