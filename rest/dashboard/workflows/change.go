package workflows

import (
	"context"
	"net/http"
	"slices"

	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/core/workflows"
	"github.com/mailhelm/mailhelm/core/workflows/engine"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
	"github.com/mailhelm/mailhelm/rest/dashboard/workflows/wording"
)

// change is a change of a workflow's status.
type change struct {
	Button, Heading, Effect string
	Danger                  bool
	From                    []workflows.Status
	// Notice is the name of the message after the change. Action is its name in the audit
	// log.
	Notice, Action string
	Do             func(ctx context.Context, on *workflows.Editor, orgID, id string) (workflows.Workflow, error)
}

// changes are the changes of a workflow's status, by their name in the page's address.
var changes = map[string]change{
	"pause": {
		Button: "Pause workflow", Heading: "Pause this workflow?", From: []workflows.Status{workflows.Active, workflows.Invalid}, Notice: "paused", Action: "workflow.paused",
		Effect: "No contact enters, and no run moves, until you resume it. Waits that end in the meantime are over then. Messages that are being passed to the account still leave.",
		Do: func(ctx context.Context, on *workflows.Editor, orgID, id string) (workflows.Workflow, error) {
			return on.Pause(ctx, orgID, id)
		},
	},
	"resume": {
		Button: "Resume workflow", Heading: "Resume this workflow?", From: []workflows.Status{workflows.Paused}, Notice: "resumed", Action: "workflow.resumed",
		Effect: "Contacts enter again, and runs whose waits have ended go on at once.",
		Do: func(ctx context.Context, on *workflows.Editor, orgID, id string) (workflows.Workflow, error) {
			return on.Resume(ctx, orgID, id)
		},
	},
	"archive": {
		Button: "Archive workflow", Heading: "Archive this workflow?", Danger: true, Notice: "archived", Action: "workflow.archived",
		From:   []workflows.Status{workflows.Active, workflows.Paused, workflows.Invalid, workflows.Draft},
		Effect: "It ends for good: no contact enters, and its active runs end where they are. It stays in the list with its numbers.",
		Do: func(ctx context.Context, on *workflows.Editor, orgID, id string) (workflows.Workflow, error) {
			return on.Archive(ctx, orgID, id)
		},
	},
}

// changePage is the data of the page that asks before a change.
type changePage struct {
	change
	Name, UnderWay string
	Back           string
	Form           frame.Form
}

// allowed returns the workflow and the change that the request names. If it returns false, it
// has written an answer. A change that is made already is answered with a redirect, so that a
// form that is sent twice does no harm.
func (h changePages) allowed(w http.ResponseWriter, r *http.Request, v people.Visitor) (workflows.Workflow, change, bool) {
	c, known := changes[r.PathValue("change")]
	if !known {
		h.NoSuchPage(w, r, v)
		return workflows.Workflow{}, c, false
	}
	found, ok := h.read(w, r, v)
	if !ok || slices.Contains(c.From, found.Status) {
		return found, c, ok
	}
	made := map[string]workflows.Status{"pause": workflows.Paused, "resume": workflows.Active, "archive": workflows.Archived}
	if found.Status == made[r.PathValue("change")] {
		frame.RedirectWithNotice(w, pathOf(found, ""), c.Notice)
		return found, c, false
	}
	h.Refuse(w, r, v, http.StatusConflict, "This workflow cannot be changed in this way", "Its status is "+statuses[found.Status].Name+" now. Open it to see what can be done with it.")
	return found, c, false
}

// showChange asks whether to change the status.
func (h changePages) showChange(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	found, c, ok := h.allowed(w, r, v)
	if !ok {
		return
	}
	counts, err := h.Editor.Runs.Counts(r.Context(), v.Org.ID, []string{found.ID})
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	data := changePage{
		change: c, Name: frame.PlainName(found.Name), Back: pathOf(found, ""), Form: frame.FormTo(v, r.URL.Path),
		UnderWay: frame.Quantity(int64(counts[found.ID][engine.Active]), "run is under way", "runs are under way"),
	}
	head := frame.Head{Title: c.Heading, Parents: []frame.Link{{Path: data.Back, Name: data.Name}}}
	h.show(w, r, v, frame.Screen{Page: "change", Title: c.Heading, Head: head, Data: data})
}

// changeStatus changes the status and redirects to the page of the workflow.
func (h changePages) changeStatus(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	found, c, ok := h.allowed(w, r, v)
	if !ok {
		return
	}
	err := h.TransactorWith(v, members.MayManageCampaigns).InTx(r.Context(), func(ctx context.Context) error {
		if _, err := c.Do(ctx, h.Editor, v.Org.ID, found.ID); err != nil {
			return err
		}
		return h.Record(ctx, v, c.Action, found.ID, nil)
	})
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	frame.RedirectWithNotice(w, pathOf(found, ""), c.Notice)
}

// settingsPage is the data of the page with the settings of a workflow.
type settingsPage struct {
	about
	Form      frame.Form
	Approval  bool
	Key       string
	Origin    string
	File      string
	Created   frame.When
	Changed   frame.When
	Activated frame.When
	Archive   string // the page that archives, "" if that is not possible
	Archived  bool
	Cap       string
	CapPath   string
}

// showSettings shows the settings of a workflow that its source does not have.
func (h changePages) showSettings(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	found, ok := h.read(w, r, v)
	if !ok {
		return
	}
	top, err := h.aboutOf(r, v, found, tabSettings)
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	limit, err := h.Editor.Cap(r.Context(), v.Org.ID)
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	data := settingsPage{
		about: top, Form: frame.FormTo(v, r.URL.Path), Approval: found.RequireApproval, Key: found.Key, Origin: "Dashboard", File: frame.PlainName(found.SourcePath),
		Created: h.When(found.CreatedAt), Changed: h.When(found.UpdatedAt), Archived: found.Status == workflows.Archived, Cap: wording.LimitWords(limit),
	}
	if found.Origin == workflows.FromGit {
		data.Origin = "Repository"
	}
	if found.ActivatedAt != nil {
		data.Activated = h.When(*found.ActivatedAt)
	}
	if top.MayManage && !data.Archived {
		data.Archive, data.CapPath = pathOf(found, "/archive"), limitPath
	}
	h.show(w, r, v, frame.Screen{Page: "settings", Title: "Settings of " + data.Name, Head: headOf(found, top), Data: data})
}

// saveSettings sets whether messages wait for a person.
func (h changePages) saveSettings(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	found, ok := h.read(w, r, v)
	if !ok {
		return
	}
	if !v.Member.Has(members.MayManageCampaigns) {
		h.Refuse(w, r, v, http.StatusForbidden, "Permission missing", "You need the permission "+string(members.MayManageCampaigns)+" in "+v.Org.Name+". Ask a member who may manage members.")
		return
	}
	required := r.PostForm.Get("approval") == approvalRequired
	err := h.TransactorWith(v, members.MayManageCampaigns).InTx(r.Context(), func(ctx context.Context) error {
		changed, err := h.Editor.SetApproval(ctx, v.Org.ID, found.ID, required)
		if err != nil {
			return err
		}
		return h.Record(ctx, v, "workflow.approval_set", changed.ID, map[string]any{"require_send_approval": map[string]bool{"before": found.RequireApproval, "after": required}})
	})
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	frame.RedirectWithNotice(w, pathOf(found, tabSettings), "settings")
}
