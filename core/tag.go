package core

// The tags that Mailhelm adds to the messages that it sends. Providers return the tags with
// every event. So an event shows the template of its message and whether it was a test.
const (
	// TestTag marks a message that was sent as a test.
	TestTag = "mailhelm_test"
	// TemplateTag has the name of the template of the message.
	TemplateTag = "mailhelm_template"
)
