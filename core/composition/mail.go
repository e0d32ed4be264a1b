package composition

import (
	"maps"
	"slices"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
)

// The names of variables whose values only a message has.
const (
	unsubscribeName = "unsubscribe_url"
	preferencesName = "preferences_url"
	emailName       = "email"
)

// Reserved returns the names of variables that neither attributes nor data of a send can
// set.
func Reserved() []string { return []string{unsubscribeName, preferencesName, emailName} }

// Mail is the compiled content of a send. It is safe for concurrent use.
type Mail struct {
	content  Content
	compiled *Compiled
	// bulk is the result of Bulk, if inBulk is true.
	bulk   sending.Bulk
	inBulk bool
}

// Recipient is a person who gets a message.
type Recipient struct {
	Email string
	// Attributes has the values of the contact's attributes, with the types of encoding/json.
	// nil values do not replace the data of the send.
	Attributes map[string]any
	Links      Links
}

// Links are the addresses with which a recipient ends or changes a subscription.
type Links struct {
	Unsubscribe, Preferences string
	// Headers are the header fields for unsubscribing with one click (RFC 8058).
	Headers []sending.Header
}

// Variables returns the names of the variables that the content uses, without reserved
// names, in the order of their first use.
func (m *Mail) Variables() []string {
	var names []string
	for _, name := range m.compiled.Variables() {
		if !slices.Contains(Reserved(), name) {
			names = append(names, name)
		}
	}
	return names
}

// Message returns the message to a recipient. It fails with core.CodeValidationFailed if
// the message becomes too long or takes too many steps.
func (m *Mail) Message(r Recipient) (sending.Message, error) {
	rendered, err := m.compiled.Execute(m.data(r))
	if err != nil {
		return sending.Message{}, err
	}
	message := sending.Message{
		Envelope: sending.Envelope{From: m.content.From, ConfigurationSet: m.content.Channel, Headers: r.Links.Headers},
		To:       []string{r.Email},
		Content:  sending.Content{Subject: rendered.Subject, HTML: rendered.HTML, Text: rendered.Text},
	}
	if m.content.Template != "" {
		message.Tags = map[string]string{core.TemplateTag: m.content.Template}
	}
	return message, nil
}

// Preview returns what a recipient would get, and the names of variables without a value.
func (m *Mail) Preview(r Recipient) (Rendered, []string, error) {
	return m.compiled.Render(m.data(r))
}

// PreviewText returns the preview text for a recipient, "" if the content has none.
func (m *Mail) PreviewText(r Recipient) (string, error) {
	if m.content.PreviewText == "" {
		return "", nil
	}
	compiled, err := Compile(m.content.PreviewText, "", "")
	if err != nil {
		return "", err
	}
	rendered, err := compiled.Execute(m.data(r))
	return rendered.Subject, err
}

// data returns the values of variables for a recipient.
func (m *Mail) data(r Recipient) map[string]any {
	data := make(map[string]any, len(m.content.Data)+len(r.Attributes)+len(Reserved()))
	maps.Copy(data, m.content.Data)
	for name, value := range r.Attributes {
		if value != nil {
			data[name] = value
		}
	}
	data[unsubscribeName], data[preferencesName], data[emailName] = r.Links.Unsubscribe, r.Links.Preferences, r.Email
	return data
}
