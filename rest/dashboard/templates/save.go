package templates

import (
	"html"
	"net/http"
	"strconv"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// labels are the names of the editor's fields in refusals.
var labels = frame.Labels{
	"slug": "The slug", "subject": "The subject", "html": "The HTML", "text": "The plain text", "testdata": "The test data", "message": "The reason",
}

// createTemplate saves a new template, or answers one of the other buttons.
func (h editorPages) createTemplate(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	if !h.refuseGitOwned(w, r, v) {
		d := submittedDraft(r)
		d.Base, d.BaseVersion = "", 0
		h.submit(w, r, v, d, nil)
	}
}

// editTemplate saves a new version of a template, or answers one of the other buttons.
func (h editorPages) editTemplate(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	if t, ok := h.editable(w, r, v); ok {
		d := submittedDraft(r)
		d.Slug = t.Slug
		h.submit(w, r, v, d, &t)
	}
}

// submit answers the editor's form. before is the template to change, nil for a new one.
func (h editorPages) submit(w http.ResponseWriter, r *http.Request, v people.Visitor, d draft, before *template) {
	switch do := r.PostForm.Get(fieldDo); {
	case do == doRender && frame.IsForFrame(r):
		h.renderDraft(w, r, v, d)
	case do == doRender || do == doCheck:
		h.editor(w, r, v, d, before, outcome{status: http.StatusOK})
	default:
		h.save(w, r, v, d, before)
	}
}

// renderDraft writes the rendered HTML of a draft for the frame, or what keeps it from being
// rendered.
func (h editorPages) renderDraft(w http.ResponseWriter, r *http.Request, v people.Visitor, d draft) {
	onDark := r.PostForm.Get(paramBackground) == dark
	explain := func(text string) {
		writePreview(w, `<!doctype html><meta charset="utf-8"><body style="font:16px sans-serif;margin:2em"><p>`+html.EscapeString(text)+`</p>`, onDark)
	}
	content, invalid := d.content()
	if invalid != nil {
		explain("The test data is not valid JSON. Press Check to see where.")
		return
	}
	with, err := h.previewData(r, v, d.parameters())
	if err != nil {
		explain(frame.TextOf(err))
		return
	}
	rendered, err := h.Stored.Preview(r.Context(), v.Org.ID, content, with)
	switch {
	case err == nil:
		writePreview(w, rendered.HTML, onDark)
	case problemOf(err) != "":
		explain("The template cannot be rendered. Press Check to see why.")
	default:
		h.Fail(w, r, v, err)
	}
}

// savedTemplate has the members of a save's result that the pages use.
type savedTemplate struct {
	// VersionNumber is the number of the newest version. A save of equal content adds none.
	VersionNumber int `json:"version_number"`
}

// save saves the draft and redirects to the page of the template. A refused draft is shown
// again in the editor.
func (h editorPages) save(w http.ResponseWriter, r *http.Request, v people.Visitor, d draft, before *template) {
	once, ok := h.ReadOnceID(w, r, v)
	if !ok {
		return
	}
	if _, invalid := d.content(); invalid != nil {
		h.editor(w, r, v, d, before, outcome{problem: faultsProblem, status: http.StatusUnprocessableEntity})
		return
	}
	var saved savedTemplate
	arguments := d.arguments(before != nil && !isEmptyObject(before.TestData))
	_, err := h.Do(r, v, frame.OperationCall{Operation: "templates_author", Arguments: arguments, Once: once}, &saved)
	switch {
	case err == nil && saved.VersionNumber == d.BaseVersion:
		frame.RedirectWithNotice(w, pathOf(d.Slug), "kept")
	case err == nil:
		frame.RedirectWithNotice(w, pathOf(d.Slug), "saved")
	default:
		h.refuseDraft(w, r, v, d, before, err)
	}
}

// faultsProblem stands above an editor whose content has faults.
const faultsProblem = "The template has faults and is not saved. They are listed with their lines."

// refuseDraft shows a draft again that could not be saved, with everything that the visitor
// typed.
func (h editorPages) refuseDraft(w http.ResponseWriter, r *http.Request, v people.Visitor, d draft, before *template, err error) {
	switch e := core.AsError(err); {
	case e.Code == core.CodeValidationFailed:
		h.editor(w, r, v, d, before, outcome{problem: draftProblem(e), status: e.HTTPStatus()})
	case isStale(err) && before != nil:
		h.showStale(w, r, v, d)
	case isStale(err):
		h.editor(w, r, v, d, nil, outcome{problem: frame.TextOf(e), status: e.HTTPStatus()})
	default:
		h.Fail(w, r, v, err)
	}
}

// draftProblem returns the text above the editor for refused fields. Faults with a line are
// listed beside the source.
func draftProblem(e *core.Error) string {
	var others []core.FieldError
	for _, f := range e.Fields {
		if !strings.HasPrefix(f.Reason, "line ") {
			others = append(others, f)
		}
	}
	problem := ""
	if len(others) < len(e.Fields) {
		problem = faultsProblem
	}
	if len(others) > 0 {
		problem += " " + labels.Problem(core.InvalidFields(others...))
	}
	return strings.TrimSpace(problem)
}

// showStale shows a draft again that changes a version which another save has replaced. The
// next save of the form replaces the newest version, which the visitor then has seen.
func (h editorPages) showStale(w http.ResponseWriter, r *http.Request, v people.Visitor, d draft) {
	t, ok := h.read(w, r, v)
	if !ok {
		return
	}
	stale, err := h.staleOf(r, v, d, t)
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	problem := "Version " + strconv.Itoa(stale.Row.Number) + " was saved since you opened this page, so your change is not saved. Your text is kept below. Compare it with that version, then save over it or cancel."
	d.Base, d.BaseVersion = t.ContentHash, t.VersionNumber
	h.editor(w, r, v, d, &t, outcome{problem: problem, status: http.StatusConflict, stale: stale})
}
