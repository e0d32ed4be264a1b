package segments

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/segments"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// fault is a fault of a predicate, with the line of the text in which it is: the text
// before the fault, the faulty word and the text after it.
type fault struct {
	Where, Message, Expected, Suggestion string
	Before, Word, After                  string
	// Known lists the names that exist, if a name is unknown.
	Known string
}

// hint is a warning about a predicate that compiles. Where is "" for the whole predicate.
type hint struct{ Where, Message, Suggestion string }

// preview is what the editor says about the present text of a predicate. The zero preview
// asks for a text.
type preview struct {
	// Problem says why the contacts were not counted, or is "".
	Problem string
	Words   string
	Parts   *predicate.Part
	Faults  []fault
	Hints   []hint
	// Counted is true if Count and Sample are known.
	Counted bool
	Count   string
	Sample  []contactRow
}

// foundRecord is the result of the operation that previews a predicate.
type foundRecord struct {
	Count  int            `json:"count"`
	Sample []memberRecord `json:"sample"`
}

// previewOf reviews a predicate and counts the contacts that match it now. key is the key
// of the segment in the form. previewOf also returns the names that predicates may use.
func (h *Segments) previewOf(r *http.Request, v people.Visitor, key, source string) (preview, predicate.Schema, error) {
	if strings.TrimSpace(source) == "" {
		names, err := h.Author.Names(r.Context(), v.Org.ID)
		return preview{}, names, err
	}
	review, err := h.Author.Review(r.Context(), v.Org, key, source)
	if err != nil {
		return preview{}, predicate.Schema{}, err
	}
	p, err := h.previewReviewed(r, v, source, review)
	return p, review.Names, err
}

// previewReviewed returns the preview of a predicate with this review.
func (h *Segments) previewReviewed(r *http.Request, v people.Visitor, source string, review segments.Review) (preview, error) {
	p := preview{Words: review.Words, Parts: review.Parts, Faults: faultsOf(source, review.Faults), Hints: hintsOf(review)}
	if len(p.Faults) > 0 {
		return p, nil
	}
	if !v.Member.Has(members.MayViewSegments) {
		p.Problem = "To see which contacts match, you need the permission " + string(members.MayViewSegments) + "."
		return p, nil
	}
	var found foundRecord
	if err := h.Read(r, v, "segments_preview_predicate", map[string]string{"source": source}, &found); err != nil {
		e := core.AsError(err)
		if e.Code == core.CodeInternalError {
			return p, err
		}
		p.Problem = strings.TrimSpace(frame.Labels{"source": "The predicate"}.Problem(e) + " " + e.NextStep())
		if p.Problem == "" {
			p.Problem = e.Message
		}
		return p, nil
	}
	p.Counted, p.Count = true, core.WithCommas(found.Count)
	for _, m := range found.Sample {
		row := contactRow{Email: frame.PlainName(m.Email), Mailable: m.Mailable}
		if h.MayOpen(v, contactsPath) {
			row.Path = contactsPath + "/" + m.ContactID
		}
		p.Sample = append(p.Sample, row)
	}
	return p, nil
}

// faultsOf returns the faults of the predicate with the text source for a page.
func faultsOf(source string, found []*predicate.Error) []fault {
	var faults []fault
	for _, f := range found {
		shown := fault{Where: placeOf(f.Line, f.Column), Message: f.Message, Expected: f.Expected, Suggestion: f.Suggestion}
		shown.Before, shown.Word, shown.After = excerpt(source, f.Line, f.Column)
		if len(f.Known) > 0 {
			shown.Known = core.QuotedList(f.Known)
		}
		faults = append(faults, shown)
	}
	return faults
}

func placeOf(line, column int) string {
	return "Line " + strconv.Itoa(line) + ", column " + strconv.Itoa(column)
}

// excerpt returns the line of the source that has a place: at most 60 characters before the
// place, the word at the place, and at most 60 characters after it.
func excerpt(source string, line, column int) (before, word, after string) {
	const most = 60
	lines := strings.Split(source, "\n")
	if line > len(lines) {
		return "", "", ""
	}
	text := []rune(lines[line-1])
	at := min(column-1, len(text))
	end := at
	for end < len(text) && !strings.ContainsRune(" \t()[],", text[end]) {
		end++
	}
	end = max(end, min(at+1, len(text)))
	head, tail := "", ""
	if at > most {
		head = "…"
	}
	if len(text)-end > most {
		tail = "…"
	}
	end = min(end, at+most)
	before = head + string(text[max(0, at-most):at])
	after = string(text[end:min(len(text), end+most)]) + tail
	return frame.PlainName(before), frame.PlainName(string(text[at:end])), frame.PlainName(after)
}

// costly is the number of steps for each contact or event from which on a predicate is said
// to be expensive. Below it, the cost of reading the rows prevails.
const costly = 20

// hintsOf returns the warnings about a predicate that compiles, and its expensive parts.
func hintsOf(r segments.Review) []hint {
	var hints []hint
	for _, w := range r.Warnings {
		hints = append(hints, hint{placeOf(w.Line, w.Column), w.Message, w.Suggestion})
	}
	if r.Weight.Contact >= costly {
		hints = append(hints, hint{Message: "Each evaluation takes about " + strconv.Itoa(r.Weight.Contact) + " steps for each contact. Text searches take most of them"})
	}
	for _, s := range r.Weight.Sources {
		if s.Steps >= costly {
			name := s.Source.Event.Kind.String() + " events"
			if s.Source.Event.Kind == predicate.ActivityEvent {
				name = "activities " + core.Quote(s.Source.Event.Activity)
			}
			hints = append(hints, hint{Message: "Each evaluation takes about " + strconv.Itoa(s.Steps) + " steps for each of the " + name + ". Test a shorter window"})
		}
	}
	return hints
}
