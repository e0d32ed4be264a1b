package templates

import (
	"net/http"
	"strconv"

	"github.com/mailhelm/mailhelm/core/people"
	stored "github.com/mailhelm/mailhelm/core/templates"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame/difference"
)

// compare returns what changed between two versions. Parts without a change are left out.
func compare(before, after stored.Version) difference.Difference {
	c := difference.Difference{None: "Subject, HTML and text are equal."}
	for _, part := range []struct{ name, before, after string }{
		{"Subject", before.Subject, after.Subject}, {"HTML", before.HTML, after.HTML}, {"Text", before.Text, after.Text},
	} {
		if part.before != part.after {
			c.Parts = append(c.Parts, difference.Of(part.name, part.before, part.after))
		}
	}
	return c
}

// comparePage is the data of the page that compares two versions.
type comparePage struct {
	From, To   versionRow
	Form       compareForm
	Difference difference.Difference
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
