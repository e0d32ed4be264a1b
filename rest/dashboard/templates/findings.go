package templates

import (
	"net/http"
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/core/mailhtml"
	"github.com/mailhelm/mailhelm/core/people"
	stored "github.com/mailhelm/mailhelm/core/templates"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// finding is something that a mail should do better. It does not keep the mail from being
// sent.
type finding struct {
	Severity, Message string
	// Mark is the class of the severity's mark.
	Mark         string
	Line, Column int // in the HTML, from 1; 0 if it is about the whole mail
}

// marks are the classes of the severities' marks, and severities their order.
var (
	marks      = map[string]string{string(mailhtml.Error): "ended", string(mailhtml.Warning): "", string(mailhtml.Notice): "test"}
	severities = []string{string(mailhtml.Error), string(mailhtml.Warning), string(mailhtml.Notice)}
)

// findingsOf checks the content of a template. The findings are ordered by severity, and
// those of one severity by line.
func (h *Templates) findingsOf(r *http.Request, v people.Visitor, t template) ([]finding, error) {
	d, err := t.draft()
	if err != nil {
		return nil, err
	}
	review, err := h.Stored.Review(r.Context(), v.Org.ID, d)
	return findings(review.Diagnostics), err
}

// findings returns diagnostics for a page.
func findings(diagnostics []stored.Diagnostic) []finding {
	var all []finding
	for _, d := range diagnostics {
		all = append(all, finding{Severity: d.Severity, Mark: marks[d.Severity], Message: frame.PlainName(d.Message), Line: d.Line, Column: d.Column})
	}
	slices.SortStableFunc(all, func(a, b finding) int {
		return slices.Index(severities, a.Severity) - slices.Index(severities, b.Severity)
	})
	return all
}

// fault is a fault of the content, with the line in which it is: the text before the fault,
// the character at it and the text after it.
type fault struct {
	// Part is the id of the field with the part. Name is the part in words.
	Part, Name           string
	Line, Column         int // 0 for a fault of the whole part
	Message              string
	Before, Marked, Rest string
}

// Stop reports whether the message needs a full stop.
func (f fault) Stop() bool {
	return !strings.HasSuffix(f.Message, "?") && !strings.HasSuffix(f.Message, ".")
}

// partNames are the parts of a template in words, by their names in faults.
var partNames = map[string]string{"subject": "Subject", "html": "HTML", "text": "Text", "testdata": "Test data", "slug": "Slug", "message": "Reason"}

// faultsOf returns the faults of a draft for a page. sources has the parts of the draft by
// name.
func faultsOf(found []stored.Fault, sources map[string]string) []fault {
	var all []fault
	for _, f := range found {
		shown := fault{Part: f.Part, Name: partNames[f.Part], Line: f.Line, Column: f.Column, Message: frame.PlainName(f.Message)}
		if f.Line > 0 {
			shown.Before, shown.Marked, shown.Rest = excerpt(sources[f.Part], f.Line, f.Column)
		}
		all = append(all, shown)
	}
	return all
}

// excerpt returns the line of a source that has a place: at most 60 characters before it, the
// character at it, and at most 60 characters after it.
func excerpt(source string, line, column int) (before, marked, rest string) {
	const most = 60
	for range line - 1 {
		_, source, _ = strings.Cut(source, "\n")
	}
	source, _, _ = strings.Cut(source, "\n")
	text := []rune(strings.TrimSuffix(source, "\r"))
	at := min(column-1, len(text))
	end := min(at+1, len(text))
	plain := func(part []rune) string { return frame.PlainName(string(part)) }
	before, marked, rest = plain(text[max(0, at-most):at]), plain(text[at:end]), plain(text[end:min(end+most, len(text))])
	if at > most {
		before = "…" + before
	}
	if end+most < len(text) {
		rest += "…"
	}
	return before, marked, rest
}
