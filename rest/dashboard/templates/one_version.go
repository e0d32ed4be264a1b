package templates

import (
	"net/http"
	"strconv"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/people"
	stored "github.com/mailhelm/mailhelm/core/templates"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame/difference"
)

// versionPage is the data of the page of one version.
type versionPage struct {
	versionRow
	Hash    string
	Subject string
	HTML    source
	Text    source
	// WithNewest is the comparison with the newest version, "" for the newest.
	WithNewest string
}

// readVersion reads the template and the version that the request names. If it returns
// false, it has written an answer.
func (h versionPages) readVersion(w http.ResponseWriter, r *http.Request, v people.Visitor) (template, stored.Version, bool) {
	t, ok := h.read(w, r, v)
	if !ok {
		return t, stored.Version{}, false
	}
	number := numberIn(r.PathValue("number"))
	if number == 0 { // 0 would be the newest
		h.NoSuchPage(w, r, v)
		return t, stored.Version{}, false
	}
	version, err := h.Stored.Version(r.Context(), v.Org.ID, t.Slug, number)
	if err != nil {
		h.Fail(w, r, v, err)
		return t, version, false
	}
	return t, version, true
}

// showVersion shows one version with its source.
func (h versionPages) showVersion(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	t, version, ok := h.readVersion(w, r, v)
	if !ok {
		return
	}
	rows, err := h.rowsOf(r.Context(), v, t, []stored.Version{version})
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	data := versionPage{versionRow: rows[0], Hash: version.Hash, Subject: version.Subject, HTML: numberedSource(version.HTML, nil), Text: numberedSource(version.Text, nil)}
	title := "Version " + strconv.Itoa(version.Number)
	head := frame.Head{Title: title, Parents: parentsOf(t)}
	if !data.Newest {
		data.WithNewest = comparePath(t.Slug, version.Number, t.VersionNumber)
		if mayWrite(v) {
			head.Actions = []frame.Action{{Path: data.Path + "/restore", Name: "Restore this version"}}
		}
	}
	h.Show(w, r, v, http.StatusOK, frame.Screen{Page: "version", Title: title + " of " + frame.PlainName(t.Name), Head: head, Data: data})
}

// parentsOf returns the links to a template and to its versions.
func parentsOf(t template) []frame.Link {
	return []frame.Link{{Path: pathOf(t.Slug), Name: frame.PlainName(t.Name)}, {Path: pathOf(t.Slug, "versions"), Name: "Versions"}}
}

// restorePage is the data of the page that asks before a version is restored.
type restorePage struct {
	Form          frame.Form
	Once, Base    string
	Number, Next  int
	Newest        int
	Back, Compare string
	Difference    difference.Difference
}

// showRestore shows what a restore of the version would change, and asks.
func (h versionPages) showRestore(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	if h.refuseGitOwned(w, r, v) {
		return
	}
	t, version, ok := h.readVersion(w, r, v)
	if !ok {
		return
	}
	title := "Restore version " + strconv.Itoa(version.Number) + "?"
	data := restorePage{
		Form: formHere(r, v), Once: core.NewID(), Base: t.ContentHash, Number: version.Number, Newest: t.VersionNumber, Next: t.VersionNumber + 1,
		Back: pathOf(t.Slug, "versions", strconv.Itoa(version.Number)), Compare: comparePath(t.Slug, t.VersionNumber, version.Number),
		Difference: compare(stored.Version{Subject: t.Subject, HTML: t.HTML, Text: t.Text}, version),
	}
	h.Show(w, r, v, http.StatusOK, frame.Screen{Page: "restore", Title: title, Head: frame.Head{Title: title, Parents: parentsOf(t)}, Data: data})
}

// restoreVersion saves the content of the version as a new version, unless another version
// was saved since the page was opened.
func (h versionPages) restoreVersion(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	if h.refuseGitOwned(w, r, v) {
		return
	}
	once, ok := h.ReadOnceID(w, r, v)
	if !ok {
		return
	}
	t, version, ok := h.readVersion(w, r, v)
	if !ok {
		return
	}
	var saved savedTemplate
	_, err := h.Do(r, v, frame.OperationCall{Operation: "templates_author", Once: once, Arguments: map[string]any{
		"slug": t.Slug, "subject": version.Subject, "html": version.HTML, "text": version.Text, "base_content_hash": r.PostForm.Get("base"),
		"message": "Restored version " + strconv.Itoa(version.Number),
	}}, &saved)
	switch {
	case isStale(err):
		h.Refuse(w, r, v, http.StatusConflict, "Another version was saved since you opened this page", "Nothing was restored. Open the version again and look at the differences.")
	case err != nil:
		h.Fail(w, r, v, err)
	case saved.VersionNumber == t.VersionNumber:
		frame.RedirectWithNotice(w, pathOf(t.Slug), "same")
	default:
		frame.RedirectWithNotice(w, pathOf(t.Slug), "restored")
	}
}

// isStale reports whether a save was refused because another version was saved since the
// form was opened. Over REST and on the dashboard the code is conflict.
func isStale(err error) bool {
	if err == nil {
		return false
	}
	code := core.AsError(err).Code
	return code == core.CodeConflict || code == core.CodeStaleContentHash
}
