package composition

import "github.com/mailhelm/mailhelm/core/mailhtml"

// Content is what all messages of a send share. It is stored as JSON when a send begins, so
// that later changes of templates and settings do not change the send.
type Content struct {
	// Subject, HTML and Text are templates. Without Text, the text is derived from the HTML.
	Subject string `json:"subject"`
	HTML    string `json:"html"`
	Text    string `json:"text"`
	// PreviewText is what clients show beside the subject, "" for none. It may use variables.
	PreviewText string `json:"preview_text"`
	// From is an address, with or without a display name.
	From string `json:"from"`
	// Channel is the name of the configuration set to send with, "" for the account's default.
	Channel string `json:"channel"`
	// Template is the name of the template in events and reports, "" for none.
	Template string `json:"template"`
	// Data has values for all recipients, by the name of the variable.
	Data map[string]any `json:"data"`
}

// Compile compiles the content. It fails with core.CodeValidationFailed if a template has
// faults, and names the first.
func (c Content) Compile() (*Mail, error) {
	compiled, err := Compile(c.Subject, mailhtml.WithPreview(c.HTML, c.PreviewText), c.text())
	if err != nil {
		return nil, err
	}
	m := &Mail{content: c, compiled: compiled}
	m.bulk, m.inBulk = m.makeBulk()
	return m, nil
}

// text returns the text part. The preview text is not part of a derived text.
func (c Content) text() string {
	if c.Text != "" {
		return c.Text
	}
	return mailhtml.Text(c.HTML)
}
