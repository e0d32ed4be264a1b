package templates

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	stored "github.com/mailhelm/mailhelm/core/templates"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame/difference"
)

// editorPages has the handlers of the editor.
type editorPages struct{ *Templates }

// editorPage is the data of the editor.
type editorPage struct {
	Form frame.Form
	// New is true for the page that creates a template; only then the slug can be written.
	New bool
	draft
	Once string
	// Numbers has the line numbers beside the HTML, one per line.
	Numbers  string
	Faults   []fault
	Findings []finding
	// Variables are the variables that the content uses.
	Variables []variable
	// Preview is the rendered content. Its Frame is always "": the form sends the content into
	// the frame.
	Preview panel
	// Ready is true if the content was checked and can be rendered.
	Ready bool
	// Stale describes the version that was saved since the form was opened, nil for none.
	Stale *staleVersion
	Save  string // the words of the button
	Back  string
}

// staleVersion is the version that was saved since the form was opened.
type staleVersion struct {
	Row versionRow
	// Theirs is the address of what that version changed, "" if it is not known. Yours is what
	// the visitor's content changes in it.
	Theirs string
	Yours  difference.Difference
}

// outcome is the result of a form that is shown again.
type outcome struct {
	problem string
	status  int
	stale   *staleVersion
}

// showNew shows the editor for a new template. The query parameter from names a template
// whose content to start from.
func (h editorPages) showNew(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	if h.refuseGitOwned(w, r, v) {
		return
	}
	d := draft{HTML: firstHTML}
	if from := r.URL.Query().Get("from"); from != "" {
		var t template
		if err := h.Read(r, v, "templates_get", map[string]any{"slug": from}, &t); err != nil {
			h.Fail(w, r, v, err)
			return
		}
		d = draftOf(t)
		d.Slug, d.Base, d.BaseVersion = "", "", 0
	}
	h.editor(w, r, v, d, nil, outcome{status: http.StatusOK})
}

// firstHTML is what the editor of a new template starts from.
const firstHTML = `<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <title>Title of the mail</title>
</head>
<body>
  <p>Hello {{first_name}},</p>
  <p>write here what is new.</p>
  <p><a href="{{unsubscribe_url}}">Unsubscribe</a></p>
</body>
</html>
`

// showEdit shows the editor for a template.
func (h editorPages) showEdit(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	if t, ok := h.editable(w, r, v); ok {
		h.editor(w, r, v, draftOf(t), &t, outcome{status: http.StatusOK})
	}
}

// editable returns the template that the request names. If it returns false, it has written
// an answer: the template is unknown, or Mailhelm does not store it.
func (h editorPages) editable(w http.ResponseWriter, r *http.Request, v people.Visitor) (template, bool) {
	if h.refuseGitOwned(w, r, v) {
		return template{}, false
	}
	t, ok := h.read(w, r, v)
	if ok && !t.isManaged() {
		h.Refuse(w, r, v, http.StatusConflict, "This template belongs to the sending account", "Change it there, or open its page and copy it to a new template.")
		return t, false
	}
	return t, ok
}

// editor writes the editor with a draft, its faults and its findings. before is the template
// to change, nil for a new one.
func (h editorPages) editor(w http.ResponseWriter, r *http.Request, v people.Visitor, d draft, before *template, o outcome) {
	data := editorPage{
		Form: formHere(r, v), New: before == nil, draft: d, Once: core.NewID(), Numbers: numbersFor(d.HTML), Stale: o.stale, Save: "Save template", Back: TemplatesPath,
	}
	if err := h.check(r, v, &data); err != nil {
		h.Fail(w, r, v, err)
		return
	}
	head := frame.Head{Title: "New template"}
	if before != nil {
		name := frame.PlainName(before.Name)
		data.Back, data.Save = pathOf(before.Slug), "Save version "+strconv.Itoa(before.VersionNumber+1)
		head = frame.Head{Title: "Edit " + name, Parents: []frame.Link{{Path: data.Back, Name: name}}}
	}
	if o.stale != nil {
		data.Save = "Save over version " + strconv.Itoa(o.stale.Row.Number)
	}
	frame.AllowMailFrames(w)
	h.Show(w, r, v, o.status, frame.Screen{Page: "editor", Title: head.Title, Head: head, Problem: o.problem, Data: data})
}

// check adds to the page what a check of its draft finds, and the rendered subject and text.
func (h editorPages) check(r *http.Request, v people.Visitor, data *editorPage) error {
	d := data.draft
	content, invalid := d.content()
	review, err := h.Stored.Review(r.Context(), v.Org.ID, content)
	if err != nil {
		return err
	}
	if invalid != nil {
		review.Faults = append(review.Faults, *invalid)
	}
	if d.HTML == "" { // there is nothing to check yet
		review.Faults = nil
	}
	data.Faults, data.Findings = faultsOf(review.Faults, d.sources()), findings(review.Diagnostics)
	for _, used := range review.Variables {
		data.Variables = append(data.Variables, variable{frame.PlainName(used.Name), used.Required})
	}
	data.Preview.Data = previewData{Sets: setOptions(content.TestData, d.Set), Email: d.Email, MayContact: v.Member.Has(members.MayViewContacts)}
	if len(data.Faults) > 0 || d.HTML == "" {
		return nil
	}
	with, err := h.previewData(r, v, d.parameters())
	if err == nil {
		err = h.fill(r, v, &data.Preview, content, with)
	}
	data.Ready = err == nil
	if data.Preview.Problem = problemOf(err); data.Preview.Problem != "" {
		return nil
	}
	return err
}

// numbersFor returns the line numbers beside a source, with more numbers than lines: the
// field grows while a person types, also without a script.
func numbersFor(text string) string {
	const more = 300
	lines := min(strings.Count(text, "\n")+more, 4*maxLines)
	var b strings.Builder
	for i := range lines {
		b.WriteString(strconv.Itoa(i + 1))
		b.WriteByte('\n')
	}
	return b.String()
}

// staleOf returns the newest version of a template, for a draft that changes an older one.
func (h editorPages) staleOf(r *http.Request, v people.Visitor, d draft, t template) (*staleVersion, error) {
	newest, err := h.Stored.Version(r.Context(), v.Org.ID, t.Slug, 0)
	if err != nil {
		return nil, err
	}
	rows, err := versionPages(h).rowsOf(r.Context(), v, t, []stored.Version{newest})
	if err != nil {
		return nil, err
	}
	stale := &staleVersion{Row: rows[0], Yours: compare(newest, stored.Version{Subject: d.Subject, HTML: d.HTML, Text: d.Text})}
	if d.BaseVersion > 0 && d.BaseVersion < newest.Number {
		stale.Theirs = comparePath(t.Slug, d.BaseVersion, newest.Number)
	}
	return stale, nil
}
