package predicate

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Error is one fault of a source, for its author. Its words may quote the
// source and names of the schema, made fit to be shown.
type Error struct {
	// Line and Column are where the fault begins, from 1; columns are in characters
	// (runes), of which a tab is one.
	Line, Column int
	// Message says what is wrong: `attribute "plna" is not registered`.
	Message string
	// Expected says what could stand there; empty when Message says it all.
	Expected string
	// Suggestion is the text to put there instead, when there is a likely one.
	Suggestion string
	// Known are the names that the schema has, where one was not found and none is near;
	// empty, not nil, when it has none. Error does not list them: they are for who
	// writes a predicate, not for who reads of one that broke.
	Known []string
	// Limit is the limit that was exceeded; empty for every other fault.
	Limit Limit
}

// Limit names one of the limits of the language.
type Limit string

// The limits, and how much each allows. A node is a test, inside of where as well, an
// and or an or with all its terms, or a not. Depth is one for the test and one for
// each not, where and pair of parentheses around it.
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

// limits are the sentences that refuse, by limit.
var limits = map[Limit]string{
	LimitSource:     fmt.Sprintf("the predicate is longer than %d bytes", MaxSource),
	LimitNodes:      fmt.Sprintf("the predicate has more than %d nodes (tests, and, or, not)", MaxNodes),
	LimitDepth:      fmt.Sprintf("parentheses, not and where are nested more than %d deep", MaxDepth),
	LimitListItems:  fmt.Sprintf("a list has more than %d values", MaxListItems),
	LimitEventTerms: fmt.Sprintf("the predicate has more than %d tests of events", MaxEventTerms),
	LimitMembership: fmt.Sprintf("the predicate has more than %d tests of lists and segments", MaxMembership),
}

// Error is the whole fault in one sentence.
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

// bounded drops a suggestion that is too long to read: it may repeat the source.
func (e *Error) bounded() *Error {
	const longest = 80
	if len(e.Suggestion) > longest {
		e.Suggestion = ""
	}
	return e
}

// Errors are the faults that Check found, in the order of the source, at most
// [MaxFaults].
type Errors []*Error

// MaxFaults is how many faults are collected; who has corrected these asks again.
const MaxFaults = 20

// Error is the faults, one a line.
func (e Errors) Error() string {
	lines := make([]string, 0, len(e))
	for _, fault := range e {
		lines = append(lines, fault.Error())
	}
	return strings.Join(lines, "\n")
}

// Unwrap gives the faults to errors.As.
func (e Errors) Unwrap() []error {
	faults := make([]error, 0, len(e))
	for _, fault := range e {
		faults = append(faults, fault)
	}
	return faults
}

// position is the line and column of an offset in source. Lines end with "\n".
func position(source string, at Offset) (line, column int) {
	before := source[:min(int(at), len(source))]
	start := strings.LastIndexByte(before, '\n') + 1
	return strings.Count(before, "\n") + 1, utf8.RuneCountInString(before[start:]) + 1
}
