package workflows

import (
	"context"
	"fmt"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/workflows/language"
)

// Diagnostic is a fault or a warning about a place in a source.
type Diagnostic struct {
	Severity Severity `json:"severity" jsonschema:"enum=error,enum=warning"`
	Line     int      `json:"line"`
	Column   int      `json:"column"`
	Message  string   `json:"message" voice:"untrusted"`
	// Expected says what is allowed instead, and Suggestion is the likely correction; both may
	// be "".
	Expected   string `json:"expected,omitempty" voice:"untrusted"`
	Suggestion string `json:"suggestion,omitempty" voice:"untrusted"`
}

// Severity says whether a workflow with the diagnostic can be activated.
type Severity string

// The severities. A workflow with a fault cannot be activated.
const (
	Fault   Severity = "error"
	Warning Severity = "warning"
)

// Review is what can be said about a source.
type Review struct {
	// Checked is nil for a source with faults.
	Checked *language.Checked
	// Diagnostics has the faults or, if there are none, the warnings.
	Diagnostics []Diagnostic
	// Schema has the names that the source may use.
	Schema language.Schema
}

// HasFaults reports whether the source cannot be activated.
func (r Review) HasFaults() bool { return r.Checked == nil }

// Review parses and checks a source.
func (e *Editor) Review(ctx context.Context, orgID, source string) (Review, error) {
	schema, err := e.Schemas.WorkflowSchema(ctx, orgID)
	if err != nil {
		return Review{}, err
	}
	return reviewOf(source, schema), nil
}

// ReviewWith parses and checks a source with the names of a schema.
func ReviewWith(source string, schema language.Schema) Review { return reviewOf(source, schema) }

func reviewOf(source string, schema language.Schema) Review {
	r := Review{Schema: schema, Diagnostics: []Diagnostic{}}
	checked, err := language.Compile(source, schema)
	if err != nil {
		for _, fault := range faultsOf(err) {
			r.Diagnostics = append(r.Diagnostics, diagnosticOf(fault))
		}
		return r
	}
	r.Checked = checked
	for _, w := range checked.Warnings() {
		r.Diagnostics = append(r.Diagnostics, Diagnostic{Severity: Warning, Line: w.Line, Column: w.Column, Message: w.Message, Suggestion: w.Suggestion})
	}
	return r
}

func diagnosticOf(fault *predicate.Error) Diagnostic {
	d := Diagnostic{
		Severity: Fault, Line: fault.Line, Column: fault.Column, Message: fault.Message, Expected: fault.Expected, Suggestion: fault.Suggestion,
	}
	switch {
	case fault.Known == nil || d.Expected != "":
	case len(fault.Known) == 0:
		d.Message += "; there are none"
	default:
		d.Expected = "one of " + core.QuotedList(fault.Known)
	}
	return d
}

// faultsOf returns the faults in the error of a failed compilation.
func faultsOf(err error) []*predicate.Error {
	if faults := predicate.FaultsOf(err); faults != nil {
		return faults
	}
	return []*predicate.Error{{Line: 1, Column: 1, Message: "the workflow does not compile"}}
}

// text returns the diagnostic in a sentence without a full stop.
func (d Diagnostic) text() string {
	return fmt.Sprintf("line %d, column %d: %s", d.Line, d.Column, d.Words())
}

// Words returns the diagnostic without its place, and without a full stop.
func (d Diagnostic) Words() string {
	text := d.Message
	if d.Expected != "" {
		text += "; expected " + d.Expected
	}
	if d.Suggestion != "" {
		text += "; did you mean " + d.Suggestion + "?"
	}
	return text
}

// invalidSource converts diagnostics to core.CodeValidationFailed, with one entry for each
// fault.
func invalidSource(diagnostics []Diagnostic) *core.Error {
	var fields []core.FieldError
	for _, d := range diagnostics {
		if d.Severity == Fault {
			fields = append(fields, core.FieldError{Field: "source", Reason: "has a fault at " + d.text()})
		}
	}
	return core.InvalidFields(fields...).WithNext("Correct the source at the places named, and save it again.")
}
