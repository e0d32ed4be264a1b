package approvals

import (
	"context"
	"net/http"
	"strconv"

	"github.com/mailhelm/mailhelm/core/approving"
	"github.com/mailhelm/mailhelm/core/broadcasts"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// labels are the names of the fields of forms.
var labels = frame.Labels{
	"reason": "The reason", "rule": "The rule", "above": "The number of members", "lists": "The rule", "recipients_a_day": "The number of recipients a day",
	"from_identity": "The sender", "audience_id": "The audience", "topic_id": "The topic", "html": "The content", "template_id": "The template",
}

// approve approves the send with the numbers that the form repeats, and redirects to the
// page of the approval.
func (h approvalHandlers) approve(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	var shown approving.Shown
	var err error
	if shown.Size, err = strconv.Atoi(r.PostForm.Get("audience_size")); err == nil {
		shown.Mailable, err = strconv.Atoi(r.PostForm.Get("mailable"))
	}
	if err != nil {
		h.approvalPage(w, r, v, "The form was incomplete. Check the numbers, then approve again.", "", http.StatusUnprocessableEntity)
		return
	}
	var out approving.Outcome
	err = h.TransactorWith(v, members.MayApproveSends).InTx(r.Context(), func(ctx context.Context) error {
		var err error
		out, err = h.Desk.Approve(ctx, v.Org.ID, v.User.ID, r.PathValue("id"), shown)
		return err
	})
	if problem, status := labels.Correctable(err); problem != "" {
		h.approvalPage(w, r, v, problem, "", status)
		return
	}
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	h.Wake()
	notice := "approved"
	switch {
	case out.Late:
		notice = "late"
	case out.State == broadcasts.Scheduled:
		notice = "scheduled"
	}
	frame.RedirectWithNotice(w, PathOf(r.PathValue("id")), notice)
}

// reject refuses the send with the reason in the form, and redirects to the page of the
// approval.
func (h approvalHandlers) reject(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	reason := r.PostForm.Get("reason")
	err := h.TransactorWith(v, members.MayApproveSends).InTx(r.Context(), func(ctx context.Context) error {
		return h.Desk.Reject(ctx, v.Org.ID, v.User.ID, r.PathValue("id"), reason)
	})
	if problem, status := labels.Correctable(err); problem != "" {
		h.approvalPage(w, r, v, problem, reason, status)
		return
	}
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	frame.RedirectWithNotice(w, PathOf(r.PathValue("id")), "rejected")
}
