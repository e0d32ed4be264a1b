package workflows

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/core/workflows"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame/difference"
	"github.com/mailhelm/mailhelm/rest/dashboard/workflows/wording"
)

// The form field that says which button was pressed, and its value for the check.
const (
	fieldDo   = "do"
	doPreview = "preview"
)

// labels are the names of the editor's fields in refusals.
var labels = frame.Labels{"source": "The source"}

// editorPage is the data of the editor.
type editorPage struct {
	about
	Form frame.Form
	New  bool
	// Example is true if the source is an example, with names that the organization may not have.
	Example bool
	// Base is the hash of the version that the source changes, "" for a new workflow.
	Source, Base string
	Numbers      string // the line numbers beside the source
	Review       review
	Help         []wording.HelpGroup
	Examples     []wording.Example
	Stale        *staleVersion
	Save         string // the words of the button
	Back         string
	Guide        *frame.Link
	// MayWrite is false for a visitor who may only read the source. Why says the reason.
	MayWrite bool
	Why      string
	// About says which version the source is.
	About string
}

// staleVersion is the version that was saved since the form was opened.
type staleVersion struct {
	Row   versionRow
	Yours difference.Difference
}

// outcome is the result of a form that is shown again.
type outcome struct {
	problem string
	status  int
	stale   *staleVersion
}

// showNew shows the editor for a new workflow. The query parameter example chooses a source to
// start from.
func (h sourcePages) showNew(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	data := editorPage{}
	if n, err := strconv.Atoi(r.URL.Query().Get("example")); err == nil && n >= 0 && n < len(wording.Examples()) {
		data.Source, data.Example = wording.Examples()[n].Source, true
	}
	h.editor(w, r, v, nil, data, outcome{})
}

// showSource shows the newest source of a workflow, in the editor if the visitor may change it.
func (h sourcePages) showSource(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	found, ok := h.read(w, r, v)
	if !ok {
		return
	}
	newest, err := h.Editor.Store.Version(r.Context(), v.Org.ID, found.ID, found.Latest())
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	h.editor(w, r, v, &found, editorPage{Source: newest.Source, Base: newest.ContentHash}, outcome{})
}

// editor writes the editor. before is the workflow to change, nil for a new one.
func (h sourcePages) editor(w http.ResponseWriter, r *http.Request, v people.Visitor, before *workflows.Workflow, data editorPage, o outcome) {
	if before == nil && v.Org.GitConnected {
		e := core.RefuseGitOwned("workflow")
		h.Refuse(w, r, v, e.HTTPStatus(), "Workflows are defined by the connected repository.", e.NextStep())
		return
	}
	found, err := h.Editor.Review(r.Context(), v.Org.ID, data.Source)
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	data.Form, data.New, data.Numbers, data.Stale = frame.FormTo(v, r.URL.Path), before == nil, wording.Numbers(data.Source), o.stale
	data.Review, data.Help, data.Examples = reviewOf(data.Source, found), wording.HelpOf(found.Schema), wording.Examples()
	data.Save, data.Back, data.MayWrite = "Save draft", Path, true
	data.Guide = h.Guide("/guides/workflow-language", "The language of workflows")
	screen := frame.Screen{Page: "editor", Title: "New workflow", Head: frame.Head{Title: "New workflow", Lead: "A saved draft reaches no contact before you activate it."}}
	if before != nil {
		if data.about, err = h.aboutOf(r, v, *before, tabSource); err != nil {
			h.Fail(w, r, v, err)
			return
		}
		screen, data.Back = frame.Screen{Page: "editor", Title: "Source of " + data.Name, Head: headOf(*before, data.about)}, pathOf(*before, "")
		data.MayWrite, data.Why, data.About = mayEdit(v, *before), whyReadOnly(v, *before), aboutSource(*before)
	}
	if o.stale != nil {
		data.Save = "Save over version " + strconv.Itoa(o.stale.Row.Number)
	}
	screen.Problem, screen.Data, screen.Notice = o.problem, data, notices.NoticeOf(r)
	h.Show(w, r, v, max(http.StatusOK, o.status), screen)
}

// whyReadOnly says why the source cannot be changed here, "" if it can.
func whyReadOnly(v people.Visitor, w workflows.Workflow) string {
	switch {
	case w.Status == workflows.Archived:
		return "The workflow is archived, so its source does not change any more."
	case isReadOnly(w):
		return "The connected repository defines this workflow. Change its file there and let it sync, or adopt it on the page Repository."
	case !v.Member.Has(members.MayManageCampaigns):
		return "To change the source, you need the permission " + string(members.MayManageCampaigns) + "."
	}
	return ""
}

// aboutSource says which version the shown source is.
func aboutSource(w workflows.Workflow) string {
	switch {
	case w.DraftVersion == 0:
		return "This is version " + strconv.Itoa(w.CurrentVersion) + ", in which contacts enter. A change becomes a draft."
	case w.CurrentVersion == 0:
		return "This is a draft. No contact enters before its activation."
	}
	return "This is the draft of version " + strconv.Itoa(w.DraftVersion) + ". Contacts enter version " + strconv.Itoa(w.CurrentVersion) + " until you activate the draft."
}

// createWorkflow stores a new workflow and redirects to its source, or shows the check.
func (h sourcePages) createWorkflow(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	h.save(w, r, v, nil, editorPage{Source: unixLines(r.PostForm.Get("source"))})
}

// saveSource stores the draft of a workflow, or shows the check.
func (h sourcePages) saveSource(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	found, ok := h.read(w, r, v)
	if !ok {
		return
	}
	if why := whyReadOnly(v, found); why != "" {
		status := http.StatusConflict
		if !v.Member.Has(members.MayManageCampaigns) {
			status = http.StatusForbidden
		}
		h.Refuse(w, r, v, status, "The source cannot be changed here", why)
		return
	}
	h.save(w, r, v, &found, editorPage{Source: unixLines(r.PostForm.Get("source")), Base: r.PostForm.Get("base")})
}

// save stores a draft. A refused one is shown again in the editor.
func (h sourcePages) save(w http.ResponseWriter, r *http.Request, v people.Visitor, before *workflows.Workflow, data editorPage) {
	if r.PostForm.Get(fieldDo) == doPreview || before == nil && v.Org.GitConnected {
		h.editor(w, r, v, before, data, outcome{})
		return
	}
	author := workflows.Author{Kind: string(core.Person), ID: v.User.ID, UserID: v.User.ID}
	d := workflows.Definition{Source: data.Source, Author: author}
	if before != nil {
		d.WorkflowID, d.BaseHash = before.ID, &data.Base
	}
	var saved workflows.Saved
	err := h.TransactorWith(v, members.MayManageCampaigns).InTx(r.Context(), func(ctx context.Context) error {
		var err error
		if saved, err = h.Editor.Save(ctx, v.Org.ID, d); err != nil || !saved.Changed {
			return err
		}
		action := "workflow.edited"
		if saved.Created {
			action = "workflow.created"
		}
		return h.Record(ctx, v, action, saved.Workflow.ID, map[string]any{"version": saved.Version.Number})
	})
	switch {
	case err != nil:
		h.refused(w, r, v, before, data, err)
	case saved.Created:
		frame.RedirectWithNotice(w, pathOf(saved.Workflow, tabSource), "created")
	case !saved.Changed:
		frame.RedirectWithNotice(w, pathOf(saved.Workflow, tabSource), "unchanged")
	default:
		frame.RedirectWithNotice(w, pathOf(saved.Workflow, tabSource), "saved")
	}
}

// refused shows a refused draft again. If another version was saved since the form was opened,
// it shows what the draft changes in that version, and the next save replaces it.
func (h sourcePages) refused(w http.ResponseWriter, r *http.Request, v people.Visitor, before *workflows.Workflow, data editorPage, err error) {
	problem, status := labels.Correctable(err)
	if problem == "" {
		h.Fail(w, r, v, err)
		return
	}
	o := outcome{problem: problem, status: status}
	if before == nil || status != http.StatusConflict {
		h.editor(w, r, v, before, data, o)
		return
	}
	now, err := h.Editor.Store.Workflow(r.Context(), v.Org.ID, before.ID)
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	newest, err := h.Editor.Store.Version(r.Context(), v.Org.ID, now.ID, now.Latest())
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	if newest.ContentHash != data.Base {
		rows, err := h.versionRows(r, v, now, []workflows.Version{newest})
		if err != nil {
			h.Fail(w, r, v, err)
			return
		}
		o.stale = &staleVersion{Row: rows[0], Yours: compare(newest.Source, data.Source)}
		o.problem, data.Base = "Nothing is saved: another version was saved since you opened this page. Read what your text would change in it, then save again.", newest.ContentHash
	}
	h.editor(w, r, v, &now, data, o)
}

// unixLines returns a text of a form with LF as line ends; browsers send CRLF.
func unixLines(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, ""), "\r\n", "\n")
}
