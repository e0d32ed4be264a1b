package approvals

import (
	"cmp"
	"net/http"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/approvals"
	"github.com/mailhelm/mailhelm/core/approving"
	"github.com/mailhelm/mailhelm/core/broadcasts"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/actors"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// notices are the messages that the pages show after a change, by their name in the address.
var notices = frame.Notices{
	"approved":  "Approved. The send has begun.",
	"scheduled": "Approved. The send begins at its time.",
	"late":      "Approved. The time of the send had passed, so it has begun at once.",
	"rejected":  "Rejected. The caller reads the reason.",
	"saved":     "The policy is saved. It applies from the next send on.",
	"stopped":   "All mail is stopped. Messages that were passed to the account before still arrive.",
	"allowed":   "Mail is allowed again. Broadcasts go on within seconds.",
}

// numberRow is a number when the send was asked for, and now. Changed is true if they
// differ.
type numberRow struct {
	Name, Then, Now string
	Changed         bool
}

// approvalPage is the data of the page of one approval.
type approvalPage struct {
	ID       string
	Waits    bool
	State    state
	Sentence string
	// From to Topic are as when the send was asked for.
	From, Subject, Audience, Topic string
	AskedBy                        string
	Asked, Ends                    frame.When
	Scheduled                      frame.When
	// IsLate is true if the time of the send has passed.
	IsLate  bool
	Numbers []numberRow
	HasNow  bool
	Blank   []string
	Checks  []string
	// Obstacle says why the send cannot be approved, "" if it can.
	Obstacle string
	Mail     string // the path of the rendered mail, "" for none
	// Broadcast and Edit are paths, "" if the visitor may not open them.
	Broadcast, Edit string
	// DecidedBy, Decided and Reason are about the decision.
	DecidedBy string
	Decided   frame.When
	Reason    string
	// Approve and Reject are nil if the visitor may not decide.
	Approve, Reject *frame.Form
	Size, Mailable  int
	// TypedReason is a refused reason.
	TypedReason string
}

// showApproval shows one approval.
func (h approvalHandlers) showApproval(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	h.approvalPage(w, r, v, "", "", http.StatusOK)
}

// approvalPage writes the page of the approval that the request names. problem is the error
// of a refused form, and reason what was typed in it.
func (h approvalHandlers) approvalPage(w http.ResponseWriter, r *http.Request, v people.Visitor, problem, reason string, status int) {
	id := r.PathValue("id")
	if !core.IsID(id) {
		h.NoSuchPage(w, r, v)
		return
	}
	c, err := h.Desk.Case(r.Context(), v.Org.ID, id)
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	data, err := h.pageOf(r, v, c)
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	data.TypedReason = reason
	frame.AllowMailFrames(w)
	name := frame.PlainName(c.Approval.Preview.Name)
	head := frame.Head{Title: name, Lead: data.State.Name + "."}
	h.Show(w, r, v, status, frame.Screen{Page: "approval", Title: name, Head: head, Notice: notices.NoticeOf(r), Problem: problem, Data: data})
}

// pageOf returns the data of the page of an approval.
func (h approvalHandlers) pageOf(r *http.Request, v people.Visitor, c approving.Case) (approvalPage, error) {
	a, then := c.Approval, c.Approval.Preview
	names := h.Actors.For(v)
	by, err := askedBy(r, names, a)
	if err != nil {
		return approvalPage{}, err
	}
	data := approvalPage{
		ID: a.ID, Waits: a.State == approvals.Pending, State: states[a.State], From: core.OnlyVisible(then.From), Subject: core.OnlyVisible(then.Subject),
		Audience: then.AudienceKind + " " + frame.PlainName(then.Audience), AskedBy: by, Asked: h.When(a.RequestedAt), Ends: h.When(a.ExpiresAt), Reason: core.OnlyVisible(approving.ReasonOf(a)),
	}
	if then.Topic != nil {
		data.Topic = core.OnlyVisible(*then.Topic)
	}
	if a.ScheduledAt != nil {
		data.Scheduled, data.IsLate = h.When(*a.ScheduledAt), !a.ScheduledAt.After(h.Clock())
	}
	if a.DecidedAt != nil {
		data.Decided = h.When(*a.DecidedAt)
	}
	if a.DecidedBy != "" {
		if data.DecidedBy, err = names.Person(r.Context(), a.DecidedBy); err != nil {
			return approvalPage{}, err
		}
	}
	if h.MayOpen(v, broadcastPath(a.BroadcastID)) && a.Reason != string(broadcasts.VoidedByDelete) {
		data.Broadcast = broadcastPath(a.BroadcastID)
	}
	h.fillNow(&data, v, c)
	return data, nil
}

// fillNow adds what the send would do now, and the forms with which the visitor decides.
func (h approvalHandlers) fillNow(data *approvalPage, v people.Visitor, c approving.Case) {
	then := c.Approval.Preview
	data.Numbers, data.Blank = numbersOf(then, nil), blankOf(then)
	if !data.Waits {
		return
	}
	if v.Member.Has(members.MayApproveSends) {
		form := frame.FormTo(v, PathOf(c.Approval.ID)+"/reject")
		data.Reject = &form
	}
	if data.Broadcast != "" && v.Member.Has(members.MayManageCampaigns) {
		data.Edit = data.Broadcast + "/edit"
	}
	if data.Obstacle = obstacleOf(c, v.User.ID); c.Now != nil && c.Now.Refusal == nil {
		now := approving.Freeze(c.Now.Preview)
		data.Numbers, data.HasNow, data.Checks, data.Blank = numbersOf(then, &now), true, c.Now.Warnings, blankOf(now)
		data.Size, data.Mailable = now.AudienceSize, now.Mailable
		data.Sentence, data.Mail = c.Now.Preview.Sentence(), PathOf(c.Approval.ID)+"/mail"
	}
	if v.Member.Has(members.MayApproveSends) && data.Obstacle == "" {
		form := frame.FormTo(v, PathOf(c.Approval.ID)+"/approve")
		data.Approve = &form
	}
}

// obstacleOf says why the visitor cannot approve the send, "" if that is possible.
func obstacleOf(c approving.Case, userID string) string {
	switch {
	case c.Now == nil:
		return "The broadcast does not exist any more."
	case c.Now.Refusal != nil:
		return cmp.Or(labels.Problem(c.Now.Refusal), c.Now.Refusal.Message)
	case c.Changed:
		return "The broadcast is not the one for which approval was asked any more: its content, audience or topic changed. Reject it and say why. The caller can then ask again."
	case approving.IsOwn(c.Approval, userID):
		return "You asked for this send on the dashboard yourself, so another person must approve it."
	}
	return ""
}

// numbersOf returns the numbers of an audience when the send was asked for, and now; nil
// stands for no numbers of now.
func numbersOf(then approvals.Preview, now *approvals.Preview) []numberRow {
	rows := []numberRow{}
	add := func(name string, of func(approvals.Preview) int) {
		row := numberRow{Name: name, Then: core.WithCommas(of(then))}
		if now != nil {
			row.Now = core.WithCommas(of(*now))
			row.Changed = row.Now != row.Then
		}
		rows = append(rows, row)
	}
	add("Members of the audience", func(p approvals.Preview) int { return p.AudienceSize })
	add("Get the message", func(p approvals.Preview) int { return p.Mailable })
	add("Suppressed, or opted out of all mail", func(p approvals.Preview) int { return p.ByAccount })
	add("Opted out of the topic", func(p approvals.Preview) int { return p.ByTopic })
	return rows
}

// blankOf names the variables that some members have no value for.
func blankOf(p approvals.Preview) []string {
	var texts []string
	for _, b := range p.Blank {
		texts = append(texts, core.Quote(b.Variable)+" is blank for "+frame.Quantity(int64(b.Members), "member", "members")+".")
	}
	return texts
}

// askedBy returns the words for the caller that asked, such as "the application Helper for
// Ada".
func askedBy(r *http.Request, names *actors.Names, a approvals.Approval) (string, error) {
	by := a.AskedBy
	if by.Kind == core.Person {
		return names.Person(r.Context(), by.ID)
	}
	words, err := names.Credential(r.Context(), by.ID, by.UserID)
	if err != nil || by.UserID == "" {
		return words, err
	}
	person, err := names.Person(r.Context(), by.UserID)
	return words + " for " + person, err
}
