package predicate

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Error is one fault of a source, for its author. Its texts may quote the source and
// names of the schema, cut and escaped for display.
type Error struct {
	// Line and Column are where the fault begins, from 1. Columns count characters
	// (runes); a tab is one.
	Line, Column int
	// Message says what is wrong: `attribute "plna" is not registered`.
	Message string
	// Expected says what is allowed there; empty if Message says it all.
	Expected string
	// Suggestion is the likely replacement, if there is one.
	Suggestion string
	// Known has the names of the schema if a name was not found and no similar one
	// exists; empty, not nil, if the schema has none. The method Error leaves them out:
	// they help an author, not a reader of a warning.
	Known []string
	// Limit is the limit that was exceeded; empty for every other fault.
	Limit Limit
}

// Limit names one of the limits of the language.
type Limit string

// The limits with their values. A node is a test (also inside of where), an "and" or
// "or" with all its terms, or a "not". Depth is one for the test, plus one for each not,
// where and pair of parentheses around it.
const (
	LimitSource     Limit = "source_bytes"
	LimitNodes      Limit = "nodes"
	LimitDepth      Limit = "depth"
	LimitListItems  Limit = "list_items"
	LimitEventTerms Limit = "event_terms"
	LimitMembership Limit = "membership_terms"

	MaxSource     = 64 << 10
	MaxNodes      = 200
	MaxDepth      = 20
	MaxListItems  = 100
	MaxEventTerms = 8
	MaxMembership = 8
)

// limits has the message for each exceeded limit.
var limits = map[Limit]string{
	LimitSource:     fmt.Sprintf("the predicate is longer than %d bytes", MaxSource),
	LimitNodes:      fmt.Sprintf("the predicate has more than %d nodes (tests, and, or, not)", MaxNodes),
	LimitDepth:      fmt.Sprintf("parentheses, not and where are nested more than %d deep", MaxDepth),
	LimitListItems:  fmt.Sprintf("a list has more than %d values", MaxListItems),
	LimitEventTerms: fmt.Sprintf("the predicate has more than %d tests of events", MaxEventTerms),
	LimitMembership: fmt.Sprintf("the predicate has more than %d tests of lists and segments", MaxMembership),
}

// Error returns the whole fault in one sentence.
func (e *Error) Error() string {
	text := fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Message)
	if e.Expected != "" {
		text += "; expected " + e.Expected
	}
	if e.Suggestion != "" {
		text += "; did you mean " + e.Suggestion + "?"
	}
	return text
}

// dropLongSuggestion removes a suggestion that is too long to read, because it may repeat
// the source.
func (e *Error) dropLongSuggestion() *Error {
	const longest = 80
	if len(e.Suggestion) > longest {
		e.Suggestion = ""
	}
	return e
}

// Errors are the faults that Check found, in the order of the source, at most
// [MaxFaults].
type Errors []*Error

// MaxFaults is the greatest number of faults that are collected. Further ones appear
// once these are fixed.
const MaxFaults = 20

// Error returns the faults, one a line.
func (e Errors) Error() string {
	lines := make([]string, 0, len(e))
	for _, fault := range e {
		lines = append(lines, fault.Error())
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the faults, for errors.As.
func (e Errors) Unwrap() []error {
	faults := make([]error, 0, len(e))
	for _, fault := range e {
		faults = append(faults, fault)
	}
	return faults
}

// position returns the line and column of an offset in source. Lines end with "\n".
func position(source string, at Offset) (line, column int) {
	before := source[:min(int(at), len(source))]
	start := strings.LastIndexByte(before, '\n') + 1
	return strings.Count(before, "\n") + 1, utf8.RuneCountInString(before[start:]) + 1
}
