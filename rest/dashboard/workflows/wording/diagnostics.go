package wording

import (
	"fmt"
	"strings"

	"github.com/mailhelm/mailhelm/core/workflows"
	"github.com/mailhelm/mailhelm/core/workflows/diagram"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// Fault is a fault of a source, or a warning about it, with the line in which it is: the text
// before it, the faulty word and the text after it.
type Fault struct {
	Line, Column                  int
	Message, Expected, Suggestion string
	Before, Word, After           string
}

// Review is what the editor says about the present text of a source. The zero Review asks for
// a text.
type Review struct {
	Written  bool
	Faults   []Fault
	Warnings []Fault
	Journey  *Journey
}

// ReviewOf returns the review of a source for the page.
func ReviewOf(source string, found workflows.Review) Review {
	shown := Review{Written: strings.TrimSpace(source) != ""}
	if !shown.Written {
		return shown
	}
	for _, d := range found.Diagnostics {
		one := Fault{Line: d.Line, Column: d.Column, Message: frame.PlainName(d.Message), Expected: frame.PlainName(d.Expected), Suggestion: frame.PlainName(d.Suggestion)}
		one.Before, one.Word, one.After = excerpt(source, d.Line, d.Column)
		if d.Severity == workflows.Fault {
			shown.Faults = append(shown.Faults, one)
		} else {
			shown.Warnings = append(shown.Warnings, one)
		}
	}
	shown.Journey = JourneyOf(TreeOf(source), found.Checked, diagram.Options{})
	return shown
}

// Place returns the place of the fault in words.
func (f Fault) Place() string { return fmt.Sprintf("Line %d, column %d", f.Line, f.Column) }

// excerpt returns the line of the source that has a place: at most 60 characters before the
// place, the word at the place, and at most 60 characters after it.
func excerpt(source string, line, column int) (before, word, after string) {
	const most = 60
	lines := strings.Split(source, "\n")
	if line < 1 || line > len(lines) {
		return "", "", ""
	}
	text := []rune(lines[line-1])
	at := max(0, min(column-1, len(text)))
	end := at
	for end < len(text) && end < at+most && !strings.ContainsRune(" \t()[],{}:", text[end]) {
		end++
	}
	end = max(end, min(at+1, len(text)))
	before, after = string(text[max(0, at-most):at]), string(text[end:min(len(text), end+most)])
	if at > most {
		before = "…" + before
	}
	if len(text)-end > most {
		after += "…"
	}
	return frame.PlainName(before), frame.PlainName(string(text[at:end])), frame.PlainName(after)
}
