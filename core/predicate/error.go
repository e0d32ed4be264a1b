package predicate

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Error is one fault in the text of a predicate, described for its author. Its texts may
// quote the predicate and names of the schema; quotes are shortened and escaped for
// display.
type Error struct {
	// Line and Column are where the fault begins; both count from 1. Columns count
	// characters (runes); a tab is one character.
	Line, Column int
	// Message says what is wrong: `attribute "plna" is not registered`.
	Message string
	// Expected says what is allowed instead; it may be "".
	Expected string
	// Suggestion is the likely correction, "" if there is none.
	Suggestion string
	// Known has the names that predicates can use. It is set for an archived topic, list or
	// segment. It is also set for a name of an attribute, topic, list or segment that does
	// not exist, if there is no Suggestion. It is empty but not nil if there are no names. The
	// method Error does not show Known, because its result is also shown to people who cannot
	// change the predicate.
	Known []string
	// Limit is the limit that the predicate exceeds, "" for other faults.
	Limit Limit
}

// Limit is the name of a limit on the size of a predicate.
type Limit string

// The limits of a predicate and their values. A node is a test (also inside of where), an
// "and" or "or" with all its terms, or a "not". The depth of a test is one, plus one for
// each "not", "where" and pair of parentheses around it.
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

// limits has the error message for each limit.
var limits = map[Limit]string{
	LimitSource:     fmt.Sprintf("the predicate is longer than %d bytes", MaxSource),
	LimitNodes:      fmt.Sprintf("the predicate has more than %d nodes (tests, and, or, not)", MaxNodes),
	LimitDepth:      fmt.Sprintf("parentheses, not and where are nested more than %d deep", MaxDepth),
	LimitListItems:  fmt.Sprintf("a list has more than %d values", MaxListItems),
	LimitEventTerms: fmt.Sprintf("the predicate has more than %d tests of events", MaxEventTerms),
	LimitMembership: fmt.Sprintf("the predicate has more than %d tests of lists and segments", MaxMembership),
}

// Error returns the position, message, expected text and suggestion in one sentence.
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

// dropLongSuggestion removes a suggestion of more than 80 bytes, which may repeat a long
// part of the source.
func (e *Error) dropLongSuggestion() *Error {
	const longest = 80
	if len(e.Suggestion) > longest {
		e.Suggestion = ""
	}
	return e
}

// Errors are the faults that Check found, sorted by their position in the source, at most
// [MaxFaults].
type Errors []*Error

// MaxFaults is the maximum number of faults that Check reports. Check reports further
// faults after the reported ones have been fixed.
const MaxFaults = 20

// Error returns the texts of all faults, one per line.
func (e Errors) Error() string {
	lines := make([]string, 0, len(e))
	for _, fault := range e {
		lines = append(lines, fault.Error())
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the faults as errors, for errors.As.
func (e Errors) Unwrap() []error {
	faults := make([]error, 0, len(e))
	for _, fault := range e {
		faults = append(faults, fault)
	}
	return faults
}

// FaultsOf returns the faults in the error of a failed compilation, or nil for another error.
func FaultsOf(err error) Errors {
	if several, ok := errors.AsType[Errors](err); ok {
		return several
	}
	if one, ok := errors.AsType[*Error](err); ok {
		return Errors{one}
	}
	return nil
}

// position returns the line and column of a byte offset in source; both count from 1. Lines
// end with "\n".
func position(source string, at Offset) (line, column int) {
	before := source[:min(int(at), len(source))]
	start := strings.LastIndexByte(before, '\n') + 1
	return strings.Count(before, "\n") + 1, utf8.RuneCountInString(before[start:]) + 1
}
