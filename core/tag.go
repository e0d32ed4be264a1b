package core

// Tags that Mailhelm puts on the messages that it sends. Providers return them with every
// event, so an event names the test or the template of its message.
const (
	// TestTag marks a test message.
	TestTag = "mailhelm_test"
	// TemplateTag names the template that a message was made from.
	TemplateTag = "mailhelm_template"
)
