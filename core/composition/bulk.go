package composition

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/handlebars"
	"github.com/mailhelm/mailhelm/core/sending"
)

// Bulk returns the message of all recipients for [sending.Sender.SendBulk], without recipients.
// Its template has the fixed texts of the content and a variable for each slot, so that the
// account only inserts what Mailhelm has rendered. Bulk returns false if an account could take
// a fixed text for a variable.
func (m *Mail) Bulk() (sending.Bulk, bool) { return m.bulk, m.inBulk }

func (m *Mail) makeBulk() (sending.Bulk, bool) {
	b := sending.Bulk{
		Envelope: sending.Envelope{From: m.content.From, ConfigurationSet: m.content.Channel},
		Inline:   sending.InlineTemplate{Subject: "{{" + subjectPart + "}}"},
	}
	var ofHTML, ofText bool
	b.Inline.HTML, ofHTML = m.compiled.parts[1].inline()
	b.Inline.Text, ofText = m.compiled.parts[2].inline()
	if m.content.Template != "" {
		b.Tags = map[string]string{core.TemplateTag: m.content.Template}
	}
	return b, ofHTML && ofText
}

// BulkRecipient returns the recipient of a bulk message with the values for the template of
// Bulk, and the subject of the message. It fails as Message does.
func (m *Mail) BulkRecipient(r Recipient) (to sending.BulkRecipient, subject string, err error) { //nolint:nonamedreturns // says which
	memory := texts.Get().(*[]byte)
	defer texts.Put(memory)
	data, values := m.data(r), map[string]string{}
	for i, p := range m.compiled.parts {
		var ends []int
		if i == 0 {
			*memory, err = p.template.Execute((*memory)[:0], data, handlebars.Limits{})
		} else {
			*memory, ends, err = p.template.ExecuteSlots((*memory)[:0], nil, data, handlebars.Limits{})
		}
		if err != nil {
			return sending.BulkRecipient{}, "", refuseExecution(p.name, err)
		}
		if i == 0 {
			values[subjectPart] = strings.TrimSpace(OneLine(string(*memory)))
		}
		begin := 0
		for n, end := range ends {
			values[p.variable(n)], begin = string((*memory)[begin:end]), end
		}
	}
	encoded, err := encodeValues(values)
	return sending.BulkRecipient{To: r.Email, Data: encoded, Headers: r.Links.Headers}, values[subjectPart], err
}

// variable returns the name of the variable of a slot.
func (p part) variable(slot int) string { return fmt.Sprint(p.name, slot) }

// inline returns the part as a template with a variable for each slot. It returns false if a
// fixed text has braces or backslashes that handlebars.js could read as part of a variable.
func (p part) inline() (string, bool) {
	var template strings.Builder
	fixed := p.template.Fixed()
	for i, text := range fixed {
		if i > 0 {
			template.WriteString("{{" + p.variable(i-1) + "}}")
		}
		before, after := i > 0 && strings.HasPrefix(text, "}"), i < len(fixed)-1 && (strings.HasSuffix(text, "{") || strings.HasSuffix(text, `\`))
		if before || after || strings.Contains(text, "{{") {
			return "", false
		}
		template.WriteString(text)
	}
	return template.String(), true
}

// encodeValues returns the values as JSON. It does not escape HTML, which would make the
// call longer.
func encodeValues(values map[string]string) (string, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(values)
	return strings.TrimSuffix(out.String(), "\n"), err
}
