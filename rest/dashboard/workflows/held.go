package workflows

import (
	"context"
	"net/http"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/core/workflows"
	"github.com/mailhelm/mailhelm/core/workflows/engine"
	"github.com/mailhelm/mailhelm/core/workflows/language"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
	"github.com/mailhelm/mailhelm/rest/dashboard/workflows/wording"
)

// heldPage is the data of a page with messages that wait for a person.
type heldPage struct {
	about
	// All is true for the page with the messages of all workflows.
	All    bool
	Groups []heldGroup
	// MayDecide is true if the visitor may decide. Needs is the permission for it.
	MayDecide bool
	Needs     string
	Approval  bool // the workflow holds further messages
	Pager     frame.Pager
	Empty     frame.Empty
}

// heldGroup is the messages of one workflow, in one form.
type heldGroup struct {
	Name, Path string
	Total      string // how many wait in all
	Form       frame.Form
	Back       string // the value of the field that names the page after the decision
	Rows       []heldRow
}

// heldRow is a message that waits.
type heldRow struct {
	RunID, Path string
	Contact     named
	Template    named
	Step        string
	Since       frame.When
	Entered     frame.When
}

// backToAll is the value of the form field back on the page of all workflows.
const backToAll = "all"

// showAll shows the messages of all workflows that wait for a person.
func (h heldPages) showAll(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	data := heldPage{All: true}
	if err := h.addHeld(r, v, "", &data); err != nil {
		h.Fail(w, r, v, err)
		return
	}
	data.Empty = frame.Empty{Text: "No message of a workflow waits for approval."}
	head := frame.Head{Title: "Messages that wait", Lead: "Messages of workflows that a person must approve. Until the decision, the run of the contact does not move."}
	h.show(w, r, v, frame.Screen{Page: "held", Title: head.Title, Head: head, Data: data})
}

// showHeld shows the messages of one workflow that wait for a person.
func (h heldPages) showHeld(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	found, ok := h.read(w, r, v)
	if !ok {
		return
	}
	data := heldPage{Approval: found.RequireApproval, Empty: frame.Empty{Text: "No message waits for approval. This workflow sends its messages without asking."}}
	if found.RequireApproval {
		data.Empty.Text = "No message waits for approval. Each further message of this workflow will wait here."
	}
	var err error
	if data.about, err = h.aboutOf(r, v, found, tabHeld); err == nil {
		err = h.addHeld(r, v, found.ID, &data)
	}
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	h.show(w, r, v, frame.Screen{Page: "held", Title: "Approvals of " + data.Name, Head: headOf(found, data.about), Data: data})
}

// addHeld adds a page of the runs with held messages, grouped by workflow.
func (h heldPages) addHeld(r *http.Request, v people.Visitor, workflowID string, data *heldPage) error {
	data.MayDecide, data.Needs = v.Member.Has(members.MayApproveSends), string(members.MayApproveSends)
	query := r.URL.Query()
	after := query.Get(frame.ParamCursor)
	if !core.IsID(after) {
		after = ""
	}
	found, err := h.Editor.Holds.Held(r.Context(), v.Org.ID, workflowID, after, frame.PageSize+1)
	if err != nil {
		return err
	}
	next := ""
	if len(found) > frame.PageSize {
		found = found[:frame.PageSize]
		next = found[len(found)-1].ID
	}
	counts, err := h.Editor.Holds.CountHeld(r.Context(), v.Org.ID)
	if err != nil {
		return err
	}
	total := 0
	for id, n := range counts {
		if workflowID == "" || id == workflowID {
			total += n
		}
	}
	data.Pager = frame.PagerOf(r.URL.Path, query, len(found), next, int64(total))
	return h.group(r, v, found, counts, data)
}

// group adds the runs to the groups of their workflows.
func (h heldPages) group(r *http.Request, v people.Visitor, found []workflows.Run, counts map[string]int, data *heldPage) error {
	names, err := h.namesOf(r.Context(), v, found)
	if err != nil {
		return err
	}
	since, err := h.Editor.Holds.HeldSince(r.Context(), v.Org.ID, found)
	if err != nil {
		return err
	}
	known, at := h.trees(r, v), map[string]int{}
	for _, run := range found {
		if _, grouped := at[run.WorkflowID]; !grouped {
			of, err := h.Editor.Store.Workflow(r.Context(), v.Org.ID, run.WorkflowID)
			if err != nil {
				return err
			}
			group := heldGroup{Name: frame.PlainName(of.Name), Path: pathOf(of, tabHeld), Total: frame.Quantity(int64(counts[of.ID]), "message", "messages"), Form: frame.FormTo(v, pathOf(of, tabHeld))}
			if data.All {
				group.Back = backToAll
			}
			at[of.ID] = len(data.Groups)
			data.Groups = append(data.Groups, group)
		}
		row, err := h.heldRowOf(v, run, known, names)
		if err != nil {
			return err
		}
		if began, held := since[run.ID]; held {
			row.Since = h.When(began)
		}
		group := &data.Groups[at[run.WorkflowID]]
		group.Rows = append(group.Rows, row)
	}
	return nil
}

// heldRowOf returns the row of a run with a held message, without the time since when it waits.
func (h heldPages) heldRowOf(v people.Visitor, run workflows.Run, known trees, names map[string]string) (heldRow, error) {
	row := heldRow{RunID: run.ID, Path: runPath(run), Contact: h.contactOf(v, run.ContactID, names), Step: run.State.Node, Entered: h.When(run.StartedAt)}
	tree, err := known.of(run.WorkflowID, run.Version)
	if err != nil {
		return row, err
	}
	if send, ok := wording.StepAt(tree, run.State.Node).(*language.Send); ok {
		row.Template = h.link(v, templatesPath, send.Template, send.Template)
	}
	return row, nil
}

// decision is what a person decides about held messages.
type decision struct {
	phase          engine.Phase
	action, notice string
}

// decisions are the decisions by the value of the pressed button.
var decisions = map[string]decision{
	"approve": {engine.Approved, "workflow.sends_approved", "approved"},
	"skip":    {engine.Skipped, "workflow.sends_skipped", "skipped"},
	"cancel":  {engine.Cancelled, "workflow.sends_cancelled", "cancelled"},
}

// decide stores a decision about the chosen messages of a workflow.
func (h heldPages) decide(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	found, ok := h.read(w, r, v)
	if !ok {
		return
	}
	if !v.Member.Has(members.MayApproveSends) {
		h.Refuse(w, r, v, http.StatusForbidden, "Permission missing", "You need the permission "+string(members.MayApproveSends)+" in "+v.Org.Name+". Ask a member who may manage members.")
		return
	}
	made, known := decisions[r.PostForm.Get(fieldDo)]
	ids := r.PostForm["run"]
	for _, id := range ids {
		known = known && core.IsID(id)
	}
	if !known || len(ids) == 0 {
		h.Refuse(w, r, v, http.StatusUnprocessableEntity, "No message is chosen", "Go back, choose the messages, and press one of the buttons.")
		return
	}
	var decided []string
	err := h.TransactorWith(v, members.MayApproveSends).InTx(r.Context(), func(ctx context.Context) error {
		var err error
		if decided, err = h.Editor.Decide(ctx, v.Org.ID, found.ID, ids, made.phase); err != nil || len(decided) == 0 {
			return err
		}
		return h.Record(ctx, v, made.action, found.ID, map[string]any{"messages": len(decided), "runs": decided})
	})
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	notice, back := made.notice, pathOf(found, tabHeld)
	if len(decided) < len(ids) {
		notice = "decided"
	}
	if r.PostForm.Get("back") == backToAll {
		back = HeldPath
	}
	frame.RedirectWithNotice(w, back, notice)
}
