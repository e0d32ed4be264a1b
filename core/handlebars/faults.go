package handlebars

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// The codes of faults.
const (
	// CodeSyntax means that a tag is malformed, or that a block is not closed or not open.
	CodeSyntax = "syntax"
	// CodeUnknownHelper means that the language has no helper or block of this name.
	CodeUnknownHelper = "unknown_helper"
	// CodeUnsupported means that the language lacks a construct of Handlebars.
	CodeUnsupported = "unsupported"
	// CodeTooLong means that the source or a path is too long.
	CodeTooLong = "too_long"
	// CodeTooDeep means that blocks are nested too deep.
	CodeTooDeep = "too_deep"
	// CodeContext means that a value cannot be used at its place in the HTML, or that the
	// arms of a block end in different places of the HTML.
	CodeContext = "context"
)

// The limits of a source.
const (
	// MaxSource is the maximum length of a source in bytes.
	MaxSource = 500_000
	// MaxDepth is how deep blocks may be nested, and arrays that are printed.
	MaxDepth = 32
	// MaxSegments is the maximum number of names in a path.
	MaxSegments = 32
	// MaxFaults is the maximum number of faults that Parse reports.
	MaxFaults = 20
)

// Fault is one fault in the source of a template, described for its author.
type Fault struct {
	// Code is one of the constants that begin with Code.
	Code string
	// Message says what is wrong and what is allowed instead. It has no full stop at its end,
	// and quotes at most 60 bytes of the source at once.
	Message string
	// Line and Column are where the fault begins; both count from 1. Columns count characters
	// (runes).
	Line, Column int
}

// Error returns the position and the message.
func (f Fault) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", f.Line, f.Column, f.Message)
}

// Faults are the faults of a source in the order of their positions, at most [MaxFaults].
type Faults []Fault

// Error returns the texts of all faults, one per line.
func (f Faults) Error() string {
	lines := make([]string, 0, len(f))
	for _, fault := range f {
		lines = append(lines, fault.Error())
	}
	return strings.Join(lines, "\n")
}

// faultList collects faults with their byte offsets in the source.
type faultList struct {
	faults []offsetFault
}

type offsetFault struct {
	at            int
	code, message string
}

func (l *faultList) add(at int, code, format string, args ...any) {
	if !l.full() {
		l.faults = append(l.faults, offsetFault{at, code, fmt.Sprintf(format, args...)})
	}
}

func (l *faultList) full() bool { return len(l.faults) >= MaxFaults }

// err returns the faults sorted by position, or nil if there are none.
func (l *faultList) err(source string) error {
	if len(l.faults) == 0 {
		return nil
	}
	slices.SortStableFunc(l.faults, func(a, b offsetFault) int { return a.at - b.at })
	found := make(Faults, 0, len(l.faults))
	for _, f := range l.faults {
		line, column := position(source, f.at)
		found = append(found, Fault{Code: f.code, Message: f.message, Line: line, Column: column})
	}
	return found
}

// position returns the line and column of a byte offset in source; both count from 1. Lines
// end with "\n".
func position(source string, at int) (line, column int) {
	before := source[:min(at, len(source))]
	start := strings.LastIndexByte(before, '\n') + 1
	return strings.Count(before, "\n") + 1, utf8.RuneCountInString(before[start:]) + 1
}

// quote returns a part of the source between backquotes, shortened to 60 bytes, with
// control characters escaped.
func quote(s string) string {
	const longest = 60
	if len(s) > longest {
		cut := longest
		for cut > 0 && !utf8.RuneStart(s[cut]) {
			cut--
		}
		s = s[:cut] + "..."
	}
	return "`" + strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == utf8.RuneError {
			return ' '
		}
		return r
	}, s) + "`"
}
