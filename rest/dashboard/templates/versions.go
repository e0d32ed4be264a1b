package templates

import (
	"context"
	"net/http"
	"strconv"

	"github.com/mailhelm/mailhelm/core/people"
	stored "github.com/mailhelm/mailhelm/core/templates"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// versionPages has the handlers of the pages about versions.
type versionPages struct{ *Templates }

// versionRow is the data of one version in the list.
type versionRow struct {
	Path         string
	Number       int
	Saved        frame.When
	By           string
	Message      string
	Subject      string
	Newest       bool
	Deployed     bool
	WithPrevious string // the comparison with the version before, "" for the first
}

// versionsPage is the data of the list of versions.
type versionsPage struct {
	Rows []versionRow
	// Compare is false if there is only one version.
	Compare bool
	Form    compareForm
	Next    string
}

// compareForm is the data of the form that chooses two versions.
type compareForm struct {
	Action   string
	From, To []frame.Option
}

// paramBefore is the query parameter with the number of the version before which the list of
// versions begins.
const paramBefore = "before"

// numberIn returns a number of a version in a text, or 0.
func numberIn(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// showVersions lists the versions of a template, the newest first.
func (h versionPages) showVersions(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	t, ok := h.read(w, r, v)
	if !ok {
		return
	}
	versions, next, err := h.Stored.History(r.Context(), v.Org.ID, t.Slug, numberIn(r.URL.Query().Get(paramBefore)), frame.PageSize)
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	rows, err := h.rowsOf(r.Context(), v, t, versions)
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	data := versionsPage{Rows: rows}
	if next > 0 {
		data.Next = pathOf(t.Slug, "versions") + "?" + paramBefore + "=" + strconv.Itoa(next)
	}
	if len(versions) > 1 {
		data.Compare = true
		data.Form = compareForm{pathOf(t.Slug, "compare"), numberOptions(versions, versions[1].Number), numberOptions(versions, versions[0].Number)}
	}
	name := frame.PlainName(t.Name)
	h.Show(w, r, v, http.StatusOK, frame.Screen{Page: "versions", Title: "Versions of " + name, Head: frame.Head{
		Title: "Versions", Count: strconv.Itoa(t.VersionNumber), Lead: "Each save of the content is a version. Versions never change.", Parents: []frame.Link{{Path: pathOf(t.Slug), Name: name}},
	}, Data: data})
}

// rowsOf returns versions for a page.
func (h versionPages) rowsOf(ctx context.Context, v people.Visitor, t template, versions []stored.Version) ([]versionRow, error) {
	names := h.Actors.For(v)
	var rows []versionRow
	for _, one := range versions {
		by, err := names.Author(ctx, one.SavedBy.Kind, one.SavedBy.ID, one.SavedBy.UserID)
		if err != nil {
			return nil, err
		}
		number := strconv.Itoa(one.Number)
		row := versionRow{
			Path: pathOf(t.Slug, "versions", number), Number: one.Number, Saved: h.When(one.SavedAt), By: by,
			Message: frame.PlainName(one.Message), Subject: frame.PlainName(one.Subject), Newest: one.Number == t.VersionNumber,
			Deployed: t.DeployedVersion != nil && *t.DeployedVersion == one.Number,
		}
		if one.Number > 1 {
			row.WithPrevious = comparePath(t.Slug, one.Number-1, one.Number)
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// numberOptions returns the numbers of versions as options.
func numberOptions(versions []stored.Version, chosen int) []frame.Option {
	options := make([]frame.Option, len(versions))
	for i, one := range versions {
		number := strconv.Itoa(one.Number)
		options[i] = frame.Option{Value: number, Name: "Version " + number}
	}
	return frame.ChooseOption(options, strconv.Itoa(chosen))
}

// comparePath returns the address of the comparison of two versions.
func comparePath(slug string, from, to int) string {
	return frame.Address(pathOf(slug, "compare"), frame.Parameters{"from": strconv.Itoa(from), "to": strconv.Itoa(to)})
}
