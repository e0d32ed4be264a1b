package workflows

import (
	"net/http"
	"strconv"

	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/core/workflows"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame/difference"
	"github.com/mailhelm/mailhelm/rest/dashboard/workflows/wording"
)

// versionRow is the data of one version in the list.
type versionRow struct {
	Path          string
	Number        int
	Saved, Active frame.When
	By            string
	State         wording.State
	WithPrevious  string // the comparison with the version before, "" for the first
}

// compareForm is the data of the form that chooses two versions.
type compareForm struct {
	Action   string
	From, To []frame.Option
}

// versionsPage is the data of the list of versions.
type versionsPage struct {
	about
	Rows    []versionRow
	Compare bool // there are two or more versions
	Form    compareForm
}

// showVersions lists the versions of a workflow, the newest first.
func (h *Room) showVersions(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	found, ok := h.read(w, r, v)
	if !ok {
		return
	}
	data, err := h.versionsOf(r, v, found)
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	h.show(w, r, v, frame.Screen{Page: "versions", Title: "Versions of " + data.Name, Head: headOf(found, data.about), Data: data})
}

func (h *Room) versionsOf(r *http.Request, v people.Visitor, w workflows.Workflow) (versionsPage, error) {
	top, err := h.aboutOf(r, v, w, tabVersions)
	if err != nil {
		return versionsPage{}, err
	}
	data := versionsPage{about: top}
	all, err := h.Editor.Store.Versions(r.Context(), v.Org.ID, w.ID)
	if err != nil {
		return data, err
	}
	if data.Rows, err = h.versionRows(r, v, w, all); err != nil || len(all) < 2 {
		return data, err
	}
	data.Compare = true
	data.Form, err = h.compareForm(r, v, w, all[1].Number, all[0].Number)
	return data, err
}

// compareForm returns the form that chooses two versions.
func (h *Room) compareForm(r *http.Request, v people.Visitor, w workflows.Workflow, from, to int) (compareForm, error) {
	f := compareForm{Action: pathOf(w, "/compare")}
	var err error
	if f.From, err = h.versionOptions(r, v, w, from); err != nil {
		return f, err
	}
	f.To, err = h.versionOptions(r, v, w, to)
	return f, err
}

// versionRows returns versions for a page.
func (h *Room) versionRows(r *http.Request, v people.Visitor, w workflows.Workflow, all []workflows.Version) ([]versionRow, error) {
	names := h.Actors.For(v)
	var rows []versionRow
	for _, one := range all {
		by, err := names.Author(r.Context(), one.CreatedBy.Kind, one.CreatedBy.ID, one.CreatedBy.UserID)
		if err != nil {
			return nil, err
		}
		row := versionRow{Path: pathOf(w, "?version="+strconv.Itoa(one.Number)), Number: one.Number, Saved: h.When(one.CreatedAt), By: by}
		if one.ActivatedAt != nil {
			row.Active = h.When(*one.ActivatedAt)
		}
		switch one.Number {
		case w.CurrentVersion:
			row.State = wording.State{Name: "current", Mark: "good"}
		case w.DraftVersion:
			row.State = wording.State{Name: "draft", Mark: "test"}
		}
		if one.Number > 1 {
			row.WithPrevious = comparePath(w, one.Number-1, one.Number)
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// comparePath returns the address of the comparison of two versions.
func comparePath(w workflows.Workflow, from, to int) string {
	return frame.Address(pathOf(w, "/compare"), frame.Parameters{"from": strconv.Itoa(from), "to": strconv.Itoa(to)})
}

// compare returns what changed between two sources.
func compare(before, after string) difference.Difference {
	d := difference.Difference{None: "The sources are equal."}
	if before != after {
		d.Parts = append(d.Parts, difference.Of("Source", before, after))
	}
	return d
}

// comparePage is the data of the page that compares two versions.
type comparePage struct {
	about
	From, To   versionRow
	Form       compareForm
	Difference difference.Difference
}

// showCompare compares the two versions that the address names.
func (h *Room) showCompare(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	found, ok := h.read(w, r, v)
	if !ok {
		return
	}
	data, err := h.comparisonOf(r, v, found, numberIn(r.URL.Query().Get("from")), numberIn(r.URL.Query().Get("to")))
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	h.show(w, r, v, frame.Screen{Page: "compare", Title: "Changes of " + data.Name, Head: headOf(found, data.about), Data: data})
}

func (h *Room) comparisonOf(r *http.Request, v people.Visitor, w workflows.Workflow, from, to int) (comparePage, error) {
	before, err := h.Editor.Store.Version(r.Context(), v.Org.ID, w.ID, from)
	if err != nil {
		return comparePage{}, err
	}
	after, err := h.Editor.Store.Version(r.Context(), v.Org.ID, w.ID, to)
	if err != nil {
		return comparePage{}, err
	}
	rows, err := h.versionRows(r, v, w, []workflows.Version{before, after})
	if err != nil {
		return comparePage{}, err
	}
	data := comparePage{From: rows[0], To: rows[1], Difference: compare(before.Source, after.Source)}
	if data.about, err = h.aboutOf(r, v, w, tabVersions); err != nil {
		return data, err
	}
	data.Form, err = h.compareForm(r, v, w, from, to)
	return data, err
}
