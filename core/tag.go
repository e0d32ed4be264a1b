package core

// Tags that Mailhelm puts on messages it hands to a sending account. Providers give
// them back with every event, which is how an event says what a provider does not.
const (
	// TestTag marks a message to try something out.
	TestTag = "mailhelm_test"
	// TemplateTag names the template that a message was made from.
	TemplateTag = "mailhelm_template"
)
