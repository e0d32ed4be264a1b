package workflows

import (
	"strings"

	"github.com/mailhelm/mailhelm/core/workflows"
	"github.com/mailhelm/mailhelm/core/workflows/diagram"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
	"github.com/mailhelm/mailhelm/rest/dashboard/workflows/wording"
)

// review is what the editor says about the present text of a source. The zero review asks for
// a text.
type review struct {
	Written  bool
	Faults   []wording.Fault
	Warnings []wording.Fault
	Journey  *wording.Journey
}

// reviewOf returns the review of a source for the page.
func reviewOf(source string, found workflows.Review) review {
	shown := review{Written: strings.TrimSpace(source) != ""}
	if !shown.Written {
		return shown
	}
	for _, d := range found.Diagnostics {
		one := wording.Fault{Line: d.Line, Column: d.Column, Message: frame.PlainName(d.Message), Expected: frame.PlainName(d.Expected), Suggestion: frame.PlainName(d.Suggestion)}
		one.Before, one.Word, one.After = wording.Excerpt(source, d.Line, d.Column)
		if d.Severity == workflows.Fault {
			shown.Faults = append(shown.Faults, one)
		} else {
			shown.Warnings = append(shown.Warnings, one)
		}
	}
	shown.Journey = wording.JourneyOf(wording.TreeOf(source), found.Checked, diagram.Options{})
	return shown
}
