package broadcasts

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/broadcasts"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// The values of the form field content: from where the content comes.
const (
	fromTemplate = "template"
	inline       = "inline"
)

// fields are the fields of the form that writes a broadcast, as texts.
type fields struct {
	Name string
	// Content is fromTemplate or inline. The fields of the other content are kept while the
	// form is edited, but are not saved.
	Content                           string
	Template, TemplateVersion         string
	Subject, PreviewText, HTML, Text  string
	Data, Audience, Topic, From, Rate string
	// Find is the text to search templates for.
	Find string
}

// textOf returns the text in a form field. A browser sends line ends as CRLF; the text has
// LF.
func textOf(r *http.Request, name string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(r.PostForm.Get(name), ""), "\r\n", "\n")
}

// fieldsOf returns the fields of a submitted form.
func fieldsOf(r *http.Request) fields {
	get := func(name string) string { return textOf(r, name) }
	return fields{
		Name: get("name"), Content: get("content"), Template: get("template_id"), TemplateVersion: strings.TrimSpace(get("template_version")),
		Subject: get("subject"), PreviewText: get("preview_text"), HTML: get("html"), Text: get("text"), Data: get("template_data"),
		Audience: get("audience_id"), Topic: get("topic_id"), From: strings.TrimSpace(get("from_identity")), Rate: strings.TrimSpace(get("rate_per_minute")), Find: get("find"),
	}
}

// storedFields returns the fields of a stored broadcast.
func storedFields(b broadcasts.Broadcast) (fields, error) {
	f := fields{
		Name: frame.PlainName(b.Name), Content: inline, Template: b.Template, Subject: b.Subject, PreviewText: b.PreviewText, HTML: b.HTML, Text: b.Text,
		Audience: string(b.AudienceKind) + ":" + b.AudienceID, Topic: b.Topic, From: b.From, TemplateVersion: numberText(b.TemplateVersion), Rate: numberText(b.Rate),
	}
	if b.UsesTemplate() {
		f.Content = fromTemplate
	}
	if len(b.Data) == 0 {
		return f, nil
	}
	text, err := json.MarshalIndent(b.Data, "", "  ")
	f.Data = string(text)
	return f, err
}

// numberText returns a number as text, "" for 0.
func numberText(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// faults are the reasons why fields are refused, by the name of the field.
type faults map[string]string

// sentences returns the faults as sentences that name the field.
func (f faults) sentences() faults {
	all := faults{}
	for name, reason := range f {
		all[name] = labels[name] + " " + reason + "."
	}
	return all
}

// faultsOf returns the reasons of a refusal by field. A field of an element, such as
// recipients.2, counts to the field before the dot.
func faultsOf(err error) faults {
	found := faults{}
	for _, f := range core.AsError(err).Fields {
		name, _, _ := strings.Cut(f.Field, ".")
		if found[name] == "" {
			found[name] = f.Reason
		}
	}
	return found
}

// definition returns what the fields decide. It returns the faults of fields that are no
// numbers or no JSON.
func (f fields) definition() (broadcasts.Definition, faults) {
	bad := faults{}
	d := broadcasts.Definition{
		Name: f.Name, Subject: f.Subject, PreviewText: f.PreviewText, FromIdentity: f.From,
		TemplateVersion: f.number("template_version", f.TemplateVersion, bad), RatePerMinute: f.number("rate_per_minute", f.Rate, bad),
	}
	if f.Content == inline {
		d.HTML, d.Text, d.TemplateVersion = f.HTML, f.Text, 0
		delete(bad, "template_version")
		if f.HTML == "" {
			bad["html"] = "is required for inline content"
		}
	} else if d.TemplateID = f.Template; f.Template == "" {
		bad["template_id"] = "is required; search for a template and choose it, or write inline content"
	}
	if f.Topic != "" {
		d.TopicID = &f.Topic
	}
	if strings.TrimSpace(f.Data) != "" {
		if err := json.Unmarshal([]byte(f.Data), &d.TemplateData); err != nil || d.TemplateData == nil {
			bad["template_data"] = `is not a JSON object such as {"offer": "10 %"}`
		}
	}
	target, ok := f.target()
	if !ok {
		bad["audience_id"] = "is required; choose a list or a segment"
	}
	d.AudienceKind, d.AudienceID = target.AudienceKind, target.AudienceID
	return d, bad
}

// number returns the number in a field, 0 for an empty field. Another text is a fault.
func (fields) number(name, text string, bad faults) int {
	if text == "" {
		return 0
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		bad[name] = "is not a number from 1 on"
		return 0
	}
	return n
}

// target returns the chosen list or segment, and false if none is chosen.
func (f fields) target() (broadcasts.Target, bool) {
	kind, id, _ := strings.Cut(f.Audience, ":")
	t := broadcasts.Target{AudienceKind: broadcasts.AudienceKind(kind), AudienceID: id}
	return t, audienceWords[t.AudienceKind] != "" && core.IsID(id)
}
