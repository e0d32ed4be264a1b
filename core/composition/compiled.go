package composition

import (
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/handlebars"
	"github.com/mailhelm/mailhelm/core/mailhtml"
)

// Compiled is the content of a mail, ready to render for any number of recipients. It is
// safe for concurrent use.
type Compiled struct {
	parts [3]part
}

// part is one part of a mail: its name and its compiled source.
type part struct {
	name     string
	template *handlebars.Template
}

// The names of the parts of a mail.
const (
	subjectPart = "subject"
	htmlPart    = "html"
	textPart    = "text"
)

// Rendered is a mail with the data of one recipient.
type Rendered struct{ Subject, HTML, Text string }

// Compile compiles the sources of a mail. Without text, the text is derived from the HTML,
// with the same variables. It fails with core.CodeValidationFailed if a part has faults, and
// names the first.
func Compile(subject, html, text string) (*Compiled, error) {
	if text == "" {
		text = mailhtml.Text(html)
	}
	c := &Compiled{}
	for i, s := range []struct {
		name, source string
		mode         handlebars.Mode
	}{{subjectPart, subject, handlebars.Text}, {htmlPart, html, handlebars.HTML}, {textPart, text, handlebars.Text}} {
		parsed, err := handlebars.Parse(s.source, s.mode)
		if err != nil {
			return nil, core.Invalid(s.name, firstFault(err))
		}
		c.parts[i] = part{s.name, parsed}
	}
	return c, nil
}

// firstFault says what is wrong with a part.
func firstFault(err error) string {
	var faults handlebars.Faults
	if errors.As(err, &faults) && len(faults) > 0 {
		return "has a fault: " + faults[0].Error()
	}
	return err.Error()
}

// Render renders the mail with the data, as Execute does. missing are the variables that
// print nothing.
func (c *Compiled) Render(data map[string]any) (rendered Rendered, missing []string, err error) { //nolint:nonamedreturns // says which
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

// texts has buffers in which parts are rendered. Later renderings reuse them.
var texts = sync.Pool{New: func() any { return new([]byte) }}

// Execute renders the mail with the data, which has the values that encoding/json makes. The
// subject is one line. It fails with core.CodeValidationFailed if a part becomes too long or
// takes too many steps.
func (c *Compiled) Execute(data map[string]any) (Rendered, error) {
	var rendered Rendered
	memory := texts.Get().(*[]byte)
	defer texts.Put(memory)
	for i, into := range []*string{&rendered.Subject, &rendered.HTML, &rendered.Text} {
		p := c.parts[i]
		text, err := p.template.Execute((*memory)[:0], data, handlebars.Limits{})
		if err != nil {
			return Rendered{}, refuseExecution(p.name, err)
		}
		*into, *memory = string(text), text
	}
	rendered.Subject = strings.TrimSpace(OneLine(rendered.Subject))
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

// OneLine replaces line ends by spaces, because a value with a line end must not add a header
// to a message (RFC 5322).
func OneLine(subject string) string {
	return strings.Join(strings.FieldsFunc(subject, func(r rune) bool { return r == '\r' || r == '\n' }), " ")
}

// refuseExecution returns the refusal of a mail that cannot be rendered with some data.
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
