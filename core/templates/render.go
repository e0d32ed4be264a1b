package templates

import (
	"errors"
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/handlebars"
	"github.com/mailhelm/mailhelm/core/mailhtml"
	"github.com/mailhelm/mailhelm/core/sending"
)

// Compiled is the content of a template, ready to render for any number of recipients.
type Compiled struct {
	parts []part
}

// part is one part of a template: its name and its compiled source.
type part struct {
	name     string
	template *handlebars.Template
}

// The names of the parts of a template.
const (
	subjectPart = "subject"
	htmlPart    = "html"
	textPart    = "text"
)

// sourceOf is a part of a template with its source.
type sourceOf struct {
	name, source string
	mode         handlebars.Mode
}

// sources returns the parts of a template.
func sources(t sending.Template) []sourceOf {
	return []sourceOf{{subjectPart, t.Subject, handlebars.Text}, {htmlPart, t.HTML, handlebars.HTML}, {textPart, t.Text, handlebars.Text}}
}

// Compile compiles the content of a template. A template without text gets one that is
// derived from its HTML, with the same variables. Compile fails with
// core.CodeValidationFailed if a part has faults, and names the first.
func Compile(t sending.Template) (*Compiled, error) {
	_, faults := scan(t)
	if len(faults) > 0 {
		return nil, invalidContent(faults)
	}
	if t.Text == "" {
		t.Text = mailhtml.Text(t.HTML)
	}
	c := &Compiled{}
	for _, s := range sources(t) {
		parsed, err := handlebars.Parse(s.source, s.mode)
		if err != nil {
			return nil, invalidContent(diagnose(s.name, err))
		}
		c.parts = append(c.parts, part{s.name, parsed})
	}
	return c, nil
}

// invalidContent returns the refusal of a template with faults.
func invalidContent(faults []string) *core.Error {
	e := core.Invalid("slug", "names a template with faults, so it cannot be rendered: "+faults[0])
	if len(faults) > 1 {
		e.Message += " templates_get has all of them."
	}
	return e
}

// Rendered is a template with the data of one recipient.
type Rendered struct{ Subject, HTML, Text string }

// Render renders the template with the data, as Execute does. missing are the variables that
// print nothing.
func (c *Compiled) Render(data map[string]any) (rendered Rendered, missing []string, err error) {
	if rendered, err = c.Execute(data); err != nil {
		return Rendered{}, nil, err
	}
	for _, p := range c.parts {
		for _, name := range p.template.Missing(data) {
			if !slices.Contains(missing, name) {
				missing = append(missing, name)
			}
		}
	}
	return rendered, missing, nil
}

// Execute renders the template with the data, which has the values that encoding/json makes.
// The subject is one line. It fails with core.CodeValidationFailed if a part becomes too
// long or takes too many steps.
func (c *Compiled) Execute(data map[string]any) (Rendered, error) {
	var rendered Rendered
	for _, p := range c.parts {
		text, err := p.template.Execute(nil, data, handlebars.Limits{})
		if err != nil {
			return Rendered{}, refuseExecution(p.name, err)
		}
		switch p.name {
		case subjectPart:
			rendered.Subject = strings.TrimSpace(oneLine(string(text)))
		case htmlPart:
			rendered.HTML = string(text)
		case textPart:
			rendered.Text = string(text)
		}
	}
	return rendered, nil
}

// Variables returns the names of the variables of all parts, in the order of their first
// use.
func (c *Compiled) Variables() []string {
	var names []string
	for _, p := range c.parts {
		for _, v := range p.template.Variables() {
			if !slices.Contains(names, v.Name) {
				names = append(names, v.Name)
			}
		}
	}
	return names
}

// refuseExecution returns the refusal of a template that cannot be rendered with some data.
func refuseExecution(part string, err error) error {
	switch {
	case errors.Is(err, handlebars.ErrOutput):
		return core.Invalid("data", "makes the `"+part+"` of the message longer than 2 MB")
	case errors.Is(err, handlebars.ErrSteps):
		return core.Invalid("data", "has so many items that the `"+part+"` takes too long to render; send fewer")
	case errors.Is(err, handlebars.ErrDepth):
		return core.Invalid("data", "has arrays that are nested deeper than 32 levels, which the `"+part+"` prints")
	}
	return err
}
