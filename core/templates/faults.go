package templates

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/handlebars"
	"github.com/mailhelm/mailhelm/core/mailhtml"
	"github.com/mailhelm/mailhelm/core/sending"
)

// Draft is the content of a template that may be unsaved, with its test data: an object
// whose members are sets of sample values.
type Draft struct {
	Subject, HTML, Text string
	TestData            map[string]any
}

// content returns the parts of the draft.
func (d Draft) content() sending.Template {
	return sending.Template{Subject: d.Subject, HTML: d.HTML, Text: d.Text}
}

// Fault is something in the content of a template that keeps it from being saved.
type Fault struct {
	// Part is subject, html, text or testdata.
	Part string
	// Message says what is wrong. It has no full stop at its end.
	Message string
	// Line and Column are where the fault begins in the part, from 1. Columns count
	// characters. Both are 0 for a fault of the whole part.
	Line, Column int
}

// fieldError returns the fault as refusals of templates_author have it.
func (f Fault) fieldError() core.FieldError {
	reason := f.Message
	if f.Line > 0 {
		reason = handlebars.Fault{Message: f.Message, Line: f.Line, Column: f.Column}.Error()
	}
	return core.FieldError{Field: f.Part, Reason: reason}
}

// Review is what a check of a draft has found.
type Review struct {
	// Faults keep the draft from being saved. templates_author refuses the same faults.
	Faults []Fault
	// Diagnostics are what could be better. They are the same that templates_author returns.
	Diagnostics []Diagnostic
	// Variables are the variables that the draft uses. A part with faults has none.
	Variables []Variable
}

// Review checks a draft and saves nothing. It needs no permission, because it reads only the
// names of attributes.
func (t *Templates) Review(ctx context.Context, orgID string, d Draft) (Review, error) {
	found := Review{Faults: contentFaults(d.content())}
	encoded, fault := encodeTestData(d.TestData)
	if fault != "" {
		found.Faults = append(found.Faults, Fault{Part: testDataPart, Message: fault})
	}
	known, err := t.knownNames(ctx, orgID, encoded)
	if err != nil {
		return Review{}, err
	}
	found.Diagnostics = lint(d.content(), known)
	found.Variables, _ = scan(d.content())
	return found, nil
}

// testDataPart is the name of the test data in refusals.
const testDataPart = "testdata"

// contentFaults returns the faults of the parts of a template, at most [handlebars.MaxFaults]
// of each part. Empty parts have none, except the HTML.
func contentFaults(content sending.Template) []Fault {
	var all []Fault
	for _, s := range sources(content) {
		all = append(all, s.faults()...)
	}
	if len(all) == 0 && !mailhtml.HasTag(content.HTML) {
		all = append(all, Fault{Part: htmlPart, Message: "has no HTML tag; write paragraphs as <p>...</p>"})
	}
	if !isOneLine(content.Subject) {
		all = append(all, Fault{Part: subjectPart, Message: "must be one line"})
	}
	return all
}

// faults returns the faults of one part of a template.
func (s sourceOf) faults() []Fault {
	if len(s.source) > handlebars.MaxSource {
		return []Fault{{Part: s.name, Message: fmt.Sprintf("has %d bytes; at most %d are allowed", len(s.source), handlebars.MaxSource)}}
	}
	_, err := handlebars.Parse(s.source, s.mode)
	if err == nil {
		return nil
	}
	var found handlebars.Faults
	if !errors.As(err, &found) {
		return []Fault{{Part: s.name, Message: strings.TrimSuffix(err.Error(), ".")}}
	}
	var all []Fault
	for _, f := range found {
		all = append(all, Fault{Part: s.name, Message: f.Message, Line: f.Line, Column: f.Column})
	}
	return all
}
