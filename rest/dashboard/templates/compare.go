package templates

import (
	"net/http"
	"strconv"

	"github.com/mailhelm/mailhelm/core/people"
	stored "github.com/mailhelm/mailhelm/core/templates"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
	"github.com/mailhelm/mailhelm/rest/dashboard/templates/linediff"
)

// The number of equal lines that a comparison shows around each change, and the maximum
// number of lines that it shows of one part.
const (
	aroundChanges = 3
	maxCompared   = 2_000
)

// comparison is the data of the template "comparison": what changed in each part.
type comparison struct{ Parts []partChange }

// partChange is what changed in one part of a template.
type partChange struct {
	Name           string
	Added, Removed int
	Hunks          []hunk
	// Rest is the number of equal lines after the last hunk. More is the number of changed
	// lines that are not shown.
	Rest, More int
	// Coarse is true if the part changed so much that single changes were not searched.
	Coarse bool
}

// hunk is a part of a comparison, after a number of equal lines that are not shown.
type hunk struct {
	Skipped int
	Lines   []changedLine
}

// changedLine is a line of a comparison. Marked is the part that differs from the line that
// it replaces, Before and After are the text around it.
type changedLine struct {
	Sign, Class           string
	Old, New              string
	Before, Marked, After string
	// Spoken says the sign in words, or is "".
	Spoken string
}

// signs are the signs of lines, with their classes and words.
var signs = map[linediff.Op]changedLine{
	linediff.Same:    {Sign: " ", Class: ""},
	linediff.Added:   {Sign: "+", Class: "plus", Spoken: "Added:"},
	linediff.Removed: {Sign: "−", Class: "minus", Spoken: "Removed:"},
}

// compare returns what changed between two versions. Parts without a change are left out.
func compare(before, after stored.Version) comparison {
	var c comparison
	for _, part := range []struct{ name, before, after string }{
		{"Subject", before.Subject, after.Subject}, {"HTML", before.HTML, after.HTML}, {"Text", before.Text, after.Text},
	} {
		if part.before != part.after {
			c.Parts = append(c.Parts, comparePart(part.name, part.before, part.after))
		}
	}
	return c
}

// comparePart compares one part of two versions.
func comparePart(name, before, after string) partChange {
	lines, coarse := linediff.Lines(before, after)
	change := partChange{Name: name, Coarse: coarse}
	for _, line := range lines {
		switch line.Op {
		case linediff.Added:
			change.Added++
		case linediff.Removed:
			change.Removed++
		}
	}
	var hunks []linediff.Hunk
	hunks, change.More, change.Rest = linediff.Hunks(lines, aroundChanges, maxCompared)
	for _, one := range hunks {
		shown := hunk{Skipped: one.Skipped}
		for _, line := range one.Lines {
			shown.Lines = append(shown.Lines, changedLineOf(line))
		}
		change.Hunks = append(change.Hunks, shown)
	}
	return change
}

// changedLineOf returns a line of a comparison for a page.
func changedLineOf(line linediff.Line) changedLine {
	shown := signs[line.Op]
	number := func(n int) string {
		if n == 0 {
			return ""
		}
		return strconv.Itoa(n)
	}
	shown.Old, shown.New = number(line.Old), number(line.New)
	shown.Before, shown.Marked, shown.After = frame.PlainName(line.Text[:line.From]), frame.PlainName(line.Text[line.From:line.To]), frame.PlainName(line.Text[line.To:])
	return shown
}

// comparePage is the data of the page that compares two versions.
type comparePage struct {
	From, To   versionRow
	Form       compareForm
	Difference comparison
}

// showCompare compares the two versions that the address names.
func (h versionPages) showCompare(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	t, ok := h.read(w, r, v)
	if !ok {
		return
	}
	from, to := numberIn(r.URL.Query().Get("from")), numberIn(r.URL.Query().Get("to"))
	if from == 0 || to == 0 {
		h.NoSuchPage(w, r, v)
		return
	}
	data, err := h.comparePage(r, v, t, from, to)
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	title := "Version " + strconv.Itoa(from) + " to version " + strconv.Itoa(to)
	h.Show(w, r, v, http.StatusOK, frame.Screen{Page: "compare", Title: title, Head: frame.Head{Title: title, Parents: parentsOf(t)}, Data: data})
}

// comparePage returns the data of the page that compares two versions.
func (h versionPages) comparePage(r *http.Request, v people.Visitor, t template, from, to int) (comparePage, error) {
	before, err := h.Stored.Version(r.Context(), v.Org.ID, t.Slug, from)
	if err != nil {
		return comparePage{}, err
	}
	after, err := h.Stored.Version(r.Context(), v.Org.ID, t.Slug, to)
	if err != nil {
		return comparePage{}, err
	}
	rows, err := h.rowsOf(r.Context(), v, t, []stored.Version{before, after})
	if err != nil {
		return comparePage{}, err
	}
	versions, _, err := h.Stored.History(r.Context(), v.Org.ID, t.Slug, 0, frame.PageSize)
	return comparePage{
		From: rows[0], To: rows[1], Difference: compare(before, after),
		Form: compareForm{pathOf(t.Slug, "compare"), numberOptions(versions, from), numberOptions(versions, to)},
	}, err
}
