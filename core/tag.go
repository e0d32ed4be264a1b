package core

// The tags that Mailhelm adds to the messages that it sends. Providers return them with
// every event, so an event shows the template and whether the message was a test.
const (
	// TestTag marks a test message.
	TestTag = "mailhelm_test"
	// TemplateTag has the name of the template from which a message was made.
	TemplateTag = "mailhelm_template"
)
