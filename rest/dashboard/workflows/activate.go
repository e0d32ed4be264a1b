package workflows

import (
	"context"
	"net/http"
	"strconv"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/core/workflows"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
	"github.com/mailhelm/mailhelm/rest/dashboard/workflows/wording"
)

// The values of the parameter and form field approval.
const (
	approvalRequired = "required"
	approvalNone     = "none"
)

// activatePage is the data of the page that asks before an activation.
type activatePage struct {
	Back string
	Form frame.Form
	// Sentence says what the activation would do. Agents get the same text.
	Sentence string
	Choices  []tab // the page with and without approval
	Approval string
	Hash     string
	Enter    string
	PerDay   string
	Days     int
	Sampled  bool
	Sends    []activateSend
	Exits    []string
	Warnings []string
	Button   string
	// Compare is the comparison with the version that it replaces, "" for none. Past is the
	// page with the estimate of 90 days.
	Compare, Past string
}

// activateSend is a send step of the draft.
type activateSend struct {
	Path     string
	Template named
	Consent  string
	PerDay   string
}

// activation returns what the parameter or form field approval asks for. Without it, messages
// wait for a person.
func activation(text string) workflows.Activation {
	return workflows.Activation{RequireApproval: text != approvalNone}
}

// showActivate says what an activation would do, and asks whether to do it.
func (h changePages) showActivate(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	if found, ok := h.read(w, r, v); ok {
		h.confirm(w, r, v, found, activation(r.URL.Query().Get("approval")), "")
	}
}

// confirm writes the page. problem says why nothing was activated, "" for no reason.
func (h changePages) confirm(w http.ResponseWriter, r *http.Request, v people.Visitor, found workflows.Workflow, a workflows.Activation, problem string) {
	preview, err := frame.ReadExpensive(h.Frame, r, v, func(ctx context.Context) (workflows.ActivationPreview, error) {
		return h.Editor.ActivationPreview(ctx, v.Org.ID, found.ID, a)
	})
	if err != nil {
		h.refuseActivation(w, r, v, found, err)
		return
	}
	data := h.activatePageOf(v, found, preview)
	status := http.StatusOK
	if problem != "" {
		status = http.StatusConflict
	}
	data.Form = frame.FormTo(v, pathOf(found, "/activate"))
	head := frame.Head{Title: data.Button, Parents: []frame.Link{{Path: data.Back, Name: frame.PlainName(found.Name)}}}
	h.Show(w, r, v, status, frame.Screen{Page: "activate", Title: head.Title, Head: head, Problem: problem, Data: data})
}

// refuseActivation writes the page for a draft that cannot be activated.
func (h changePages) refuseActivation(w http.ResponseWriter, r *http.Request, v people.Visitor, found workflows.Workflow, err error) {
	e := core.AsError(err)
	if e.Code == core.CodeValidationFailed {
		h.Refuse(w, r, v, e.HTTPStatus(), "The draft has faults", labels.Problem(err)+" Open the source of "+frame.Quoted(found.Name)+" and correct it.")
		return
	}
	h.Fail(w, r, v, err)
}

func (h changePages) activatePageOf(v people.Visitor, w workflows.Workflow, p workflows.ActivationPreview) activatePage {
	data := activatePage{
		Back: pathOf(w, ""), Sentence: frame.PlainName(p.Sentence()), Approval: approvalRequired, Hash: p.ContentHash, PerDay: wording.PerDay(p.PerDay),
		Days: p.Days, Sampled: p.Sampled, Button: "Activate version " + strconv.Itoa(p.Version), Past: pathOf(w, tabPast), Enter: "none",
	}
	if p.EntersExisting {
		data.Enter = count(p.WouldEnroll)
	}
	if !p.RequireApproval {
		data.Approval = approvalNone
	}
	for _, choice := range []tab{
		{Path: approvalRequired, Name: "Each message waits for approval"}, {Path: approvalNone, Name: "Send without asking"},
	} {
		choice.Current = choice.Path == data.Approval
		choice.Path = pathOf(w, "/activate?approval="+choice.Path)
		data.Choices = append(data.Choices, choice)
	}
	for _, s := range p.Sends {
		shown := activateSend{s.NodePath, h.link(v, templatesPath, s.Template, s.Template), "without a topic", wording.PerDay(s.PerDay)}
		switch {
		case s.Topic != nil:
			shown.Consent = "subscribers of " + frame.Quoted(*s.Topic)
		case s.Transactional:
			shown.Consent = "transactional, also without consent"
		}
		data.Sends = append(data.Sends, shown)
	}
	for _, name := range p.Exits {
		data.Exits = append(data.Exits, frame.Quoted(name))
	}
	for _, text := range p.Warnings {
		data.Warnings = append(data.Warnings, frame.PlainName(text))
	}
	if p.Replaces > 0 {
		data.Compare = comparePath(w, p.Replaces, p.Version)
	}
	return data
}

// activate activates the draft that the form shows. A form that is sent twice activates once.
func (h changePages) activate(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	found, ok := h.read(w, r, v)
	if !ok {
		return
	}
	a := activation(r.PostForm.Get("approval"))
	a.ContentHash = r.PostForm.Get("hash")
	if a.ContentHash == "" {
		h.confirm(w, r, v, found, a, "Nothing was activated: the form was damaged. Read again what would happen.")
		return
	}
	if done, err := h.isActivated(r, v, found, a.ContentHash); err != nil || done {
		if err != nil {
			h.Fail(w, r, v, err)
			return
		}
		frame.RedirectWithNotice(w, pathOf(found, ""), "activated")
		return
	}
	err := h.TransactorWith(v, members.MayManageCampaigns).InTx(r.Context(), func(ctx context.Context) error {
		changed, err := h.Editor.Activate(ctx, v.Org.ID, found.ID, a)
		if err != nil {
			return err
		}
		return h.Record(ctx, v, "workflow.activated", changed.ID, map[string]any{"version": changed.CurrentVersion, "require_send_approval": changed.RequireApproval})
	})
	switch {
	case err == nil:
		frame.RedirectWithNotice(w, pathOf(found, ""), "activated")
	case core.AsError(err).Code == core.CodeConflict && found.DraftVersion > 0:
		h.confirm(w, r, v, found, activation(r.PostForm.Get("approval")), "Nothing was activated: the draft was saved again since you opened this page. Read again what would happen now.")
	default:
		h.refuseActivation(w, r, v, found, err)
	}
}

// isActivated reports whether the version with the hash is current already, and no other draft
// waits.
func (h changePages) isActivated(r *http.Request, v people.Visitor, w workflows.Workflow, hash string) (bool, error) {
	if w.Status != workflows.Active || w.DraftVersion > 0 {
		return false, nil
	}
	current, err := h.Editor.Store.Version(r.Context(), v.Org.ID, w.ID, w.CurrentVersion)
	return err == nil && current.ContentHash == hash, err
}
