package segments

import (
	"context"
	"errors"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/predicatelint"
)

// PreviewIn has the predicate whose matching contacts are counted without saving a segment.
type PreviewIn struct {
	Source string `json:"source" jsonschema:"minLength=1,maxLength=65536" jsonschema_description:"Predicate, such as attr.orders >= 10 and subscribed to \"offers\". audience_get_schema has the language and the names."`
}

// Preview has the number of contacts that match a predicate and some of them as examples.
// If the predicate does not compile, Error describes the fault.
type Preview struct {
	Count     int                 `json:"count"`
	EvalClass predicate.EvalClass `json:"eval_class,omitempty" jsonschema:"enum=incremental,enum=sweep,enum=both"`
	Sample    []Example           `json:"sample"`
	Lint      []Lint              `json:"lint"`
	Error     *Fault              `json:"error,omitempty"`
}

// Found is the result of a preview in the REST API: the number of matching contacts, with
// examples. For a predicate that does not compile, the REST API returns an error instead.
type Found struct {
	Count     int                 `json:"count"`
	EvalClass predicate.EvalClass `json:"eval_class" jsonschema:"enum=incremental,enum=sweep,enum=both"`
	Sample    []Example           `json:"sample"`
}

// RESTView returns the preview without Lint and Error, which only agents get.
func (p Preview) RESTView() Found { return Found{p.Count, p.EvalClass, p.Sample} }

// Lint is a warning about a part of a valid predicate.
type Lint struct {
	Message    string `json:"message" voice:"untrusted"`
	Line       int    `json:"line"`
	Column     int    `json:"column"`
	Suggestion string `json:"suggestion,omitempty" voice:"untrusted"`
}

// Fault describes the first error in a predicate, with its line and column in the
// predicate's text. The message may suggest a correction.
type Fault struct {
	Message string `json:"message" voice:"untrusted"`
	Line    int    `json:"line"`
	Column  int    `json:"column"`
}

const sampleSize = 10

func (s *Segments) segmentsPreviewPredicate() core.Operation {
	return core.Declare(core.Op[PreviewIn, Preview]{
		Name:  "segments_preview_predicate",
		Title: "Preview a predicate",
		Purpose: "Counts the contacts that match a predicate. Use it while writing a predicate. " +
			"Returns count, sample, class, warnings, or the error with its place. It saves nothing.",
		Example: `{"source": "attr.orders >= 10 and subscribed to \"offers\""}`,
		Effect:  core.Reads,
		Cost:    core.Heavy,
		Scopes:  []core.Scope{core.SegmentsView},
		Do:      s.preview,
	})
}

func (s *Segments) preview(ctx context.Context, c *core.Call, in PreviewIn) (Preview, error) {
	org := c.Principal.Org.ID
	schema, err := s.Store.PredicateSchema(ctx, org)
	if err != nil {
		return Preview{}, err
	}
	if schema.Activities, err = s.Store.SeenActivities(ctx, org); err != nil {
		return Preview{}, err
	}
	checked, err := predicate.Compile(in.Source, schema.Schema)
	if err != nil {
		if c.Surface == core.Agent {
			return Preview{Sample: []Example{}, Lint: []Lint{}, Error: faultOf(err)}, nil
		}
		return Preview{}, invalidPredicate(err).WithNext("Correct the predicate at the places named. The documentation teaches the language under `/guides/predicates`.")
	}
	found := Preview{EvalClass: checked.EvalClass(), Lint: lintOf(predicatelint.Check(checked, lintFacts(c.Principal.Org, c.Now)))}
	bounded, cancel := context.WithTimeout(ctx, s.PreviewTime)
	defer cancel()
	q := Question{OrgID: org, Predicate: checked, Slots: schema.Slots, Now: c.Now}
	if err = s.checkPreviewCost(bounded, q); err == nil {
		err = s.countWithSample(bounded, q, &found)
	}
	if err != nil && ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
		return Preview{}, core.Invalid("source", "takes longer to answer than "+s.PreviewTime.String()+": test fewer events, or test a shorter window")
	}
	return found, err
}

// countWithSample sets the count and the sample of found. Contacts change between the two
// queries, so the count follows the sample: a sample that is not full has all matching
// contacts, and a full one has at most as many as match.
func (s *Segments) countWithSample(ctx context.Context, q Question, found *Preview) (err error) {
	if found.Sample, err = s.Members.Examples(ctx, q, sampleSize); err != nil {
		return err
	}
	if found.Count = len(found.Sample); found.Count < sampleSize {
		return nil
	}
	count, err := s.Members.CountMatching(ctx, q)
	found.Count = max(count, sampleSize)
	return err
}

// invalidPredicate converts the error of a failed compilation to core.CodeValidationFailed,
// with one entry for each fault of the predicate.
func invalidPredicate(err error) *core.Error {
	var fields []core.FieldError
	for _, fault := range predicate.FaultsOf(err) {
		fields = append(fields, core.FieldError{Field: "source", Reason: fault.Error() + listNames(fault)})
	}
	return core.InvalidFields(fields...)
}

// faultOf returns the first fault.
func faultOf(err error) *Fault {
	faults := predicate.FaultsOf(err)
	if len(faults) == 0 {
		return &Fault{Message: "the predicate does not compile", Line: 1, Column: 1}
	}
	first := newFault(faults[0])
	return &first
}

func newFault(e *predicate.Error) Fault {
	text := e.Message
	if e.Expected != "" {
		text += "; expected " + e.Expected
	}
	if e.Suggestion != "" {
		text += "; did you mean " + e.Suggestion + "?"
	}
	return Fault{Message: text + listNames(e), Line: e.Line, Column: e.Column}
}

// listNames returns the end of the error message about an unknown name: a text with the
// valid names, such as those of the existing lists. For other faults it returns "".
func listNames(fault *predicate.Error) string {
	switch {
	case fault.Known == nil:
		return ""
	case len(fault.Known) == 0:
		return "; there are none"
	}
	return "; there are " + core.QuotedList(fault.Known)
}

func lintOf(warnings []predicate.Warning) []Lint {
	all := []Lint{}
	for _, w := range warnings {
		all = append(all, Lint{Message: w.Message, Line: w.Line, Column: w.Column, Suggestion: w.Suggestion})
	}
	return all
}
