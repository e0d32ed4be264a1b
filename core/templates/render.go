package templates

import (
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/composition"
	"github.com/mailhelm/mailhelm/core/handlebars"
	"github.com/mailhelm/mailhelm/core/sending"
)

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
func Compile(t sending.Template) (*composition.Compiled, error) {
	if _, faults := scan(t); len(faults) > 0 {
		return nil, invalidContent(faults)
	}
	return composition.Compile(t.Subject, t.HTML, t.Text)
}

// neverValid returns the refusal of a template whose files in the repository were never valid.
func neverValid(slug string, faults []string) *core.Error {
	e := &core.Error{
		Code:    core.CodeValidationFailed,
		Message: "The template " + core.Quote(slug) + " has no content that can be sent, because its files in the repository have never been valid.",
		Next:    "Correct the files and let the repository sync, or choose another template. templates_get says what is wrong.",
	}
	if len(faults) > 0 {
		e.Message += " " + faults[0]
	}
	return e
}

// invalidContent returns the refusal of a template with faults.
func invalidContent(faults []string) *core.Error {
	e := core.Invalid("slug", "names a template with faults, so it cannot be rendered: "+faults[0])
	if len(faults) > 1 {
		e.Message += " templates_get has all of them."
	}
	return e
}
