package workflowfiles

import (
	"fmt"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/workflowfiles/review"
	"github.com/mailhelm/mailhelm/core/predicate"
)

// fault is an error or a warning in the output of --json. Scripts rely on its members.
type fault struct {
	Line       int      `json:"line"`
	Column     int      `json:"column"`
	Message    string   `json:"message"`
	Expected   string   `json:"expected,omitempty"`
	Suggestion string   `json:"suggestion,omitempty"`
	Known      []string `json:"known,omitempty"`
	// Kind is the kind of a warning.
	Kind string `json:"kind,omitempty"`
}

// errorsOf returns the faults of a review, never nil.
func errorsOf(r review.Result) []fault {
	list := []fault{}
	for _, f := range r.Faults {
		list = append(list, fault{Line: f.Line, Column: f.Column, Message: f.Message, Expected: f.Expected, Suggestion: f.Suggestion, Known: f.Known})
	}
	return list
}

// warningsOf returns the warnings of a review, never nil.
func warningsOf(r review.Result) []fault {
	list := []fault{}
	for _, w := range r.Warnings {
		list = append(list, fault{Line: w.Line, Column: w.Column, Message: w.Message, Suggestion: w.Suggestion, Kind: string(w.Kind)})
	}
	return list
}

// lines returns the faults and warnings of a file in the form that editors and terminals
// link: file:line:column: message.
func lines(file string, r review.Result) []string {
	var all []string
	for _, f := range r.Faults {
		all = append(all, fmt.Sprintf("%s:%d:%d: %s", file, f.Line, f.Column, sentence(f)))
	}
	for _, w := range r.Warnings {
		text := fmt.Sprintf("%s:%d:%d: warning: %s", file, w.Line, w.Column, w.Message)
		if w.Suggestion != "" {
			text += "; did you mean " + w.Suggestion + "?"
		}
		all = append(all, text)
	}
	return all
}

// sentence returns a fault with what is expected and the suggestion.
func sentence(f *predicate.Error) string {
	text := f.Message
	if f.Expected != "" {
		text += "; expected " + f.Expected
	}
	if f.Suggestion != "" {
		text += "; did you mean " + f.Suggestion + "?"
	}
	return text
}
