package approvals

import (
	"net/http"
	"net/url"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/approvals"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/actors"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// paramShow is the query parameter that chooses the list, and showDecided its value for the
// approvals with a decision.
const (
	paramShow   = "show"
	showDecided = "decided"
)

// state is the state of an approval in words, with the class of its mark.
type state struct{ Name, Mark string }

var states = map[approvals.State]state{
	approvals.Pending: {"Waits for approval", ""}, approvals.Approved: {"Approved", "good"}, approvals.Rejected: {"Rejected", "ended"},
	approvals.Voided: {"Void", "test"}, approvals.Expired: {"Expired", "test"},
}

// approvalRow is the data of one approval in the list.
type approvalRow struct {
	Path, Name  string
	State       state
	AskedBy     string
	Recipients  string
	Asked, Ends frame.When
	Waits       bool
}

// listPage is the data of the list of approvals.
type listPage struct {
	Waiting, Decided string // paths
	IsDecided        bool
	Rows             []approvalRow
	Pager            frame.Pager
	Empty            frame.Empty
	// Held is the number of messages of workflows that wait, "" for none. HeldPath is the page
	// with them.
	Held, HeldPath string
}

// showApprovals lists the approvals that wait, or those with a decision.
func (h approvalHandlers) showApprovals(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	query := r.URL.Query()
	data := listPage{Waiting: Path, Decided: Path + "?" + paramShow + "=" + showDecided, IsDecided: query.Get(paramShow) == showDecided}
	page, err := h.Desk.Find(r.Context(), v.Org.ID, !data.IsDecided, query.Get(frame.ParamCursor), frame.PageSize)
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	if data.Held, err = h.heldWords(r, v); err != nil {
		h.Fail(w, r, v, err)
		return
	}
	data.HeldPath = h.HeldPath
	names := h.Actors.For(v)
	for _, a := range page.Items {
		row, err := h.rowOf(r, names, a)
		if err != nil {
			h.Fail(w, r, v, err)
			return
		}
		data.Rows = append(data.Rows, row)
	}
	data.Pager = frame.PagerOf(Path, query, len(data.Rows), page.Next, -1)
	data.Empty = h.emptyOf(v, data.IsDecided)
	head := frame.Head{Title: "Approvals", Lead: "Sends of applications and API keys that wait for a person. Until the decision, nothing of them is sent."}
	if v.Member.Has(members.MayManageOrg) {
		head.Actions = []frame.Action{{Path: PolicyPath, Name: "Change policy"}}
	}
	h.Show(w, r, v, http.StatusOK, frame.Screen{Page: "approvals", Title: "Approvals", Head: head, Notice: notices.NoticeOf(r), Data: data})
}

func (h approvalHandlers) rowOf(r *http.Request, names *actors.Names, a approvals.Approval) (approvalRow, error) {
	by, err := askedBy(r, names, a)
	return approvalRow{
		Path: PathOf(a.ID), Name: frame.PlainName(a.Preview.Name), State: states[a.State], AskedBy: by, Waits: a.State == approvals.Pending,
		Recipients: core.WithCommas(a.Preview.Mailable), Asked: h.When(a.RequestedAt), Ends: h.When(a.ExpiresAt),
	}, err
}

// heldWords says how many messages of workflows wait, "" for none.
func (h approvalHandlers) heldWords(r *http.Request, v people.Visitor) (string, error) {
	counts, err := h.Held.CountHeld(r.Context(), v.Org.ID)
	total := 0
	for _, n := range counts {
		total += n
	}
	if total == 0 {
		return "", err
	}
	return frame.Quantity(int64(total), "message of a workflow waits", "messages of workflows wait"), err
}

// emptyOf returns the text in place of an empty list.
func (h approvalHandlers) emptyOf(v people.Visitor, decided bool) frame.Empty {
	if decided {
		return frame.Empty{Text: "No decision was made yet."}
	}
	empty := frame.Empty{Text: "No send waits for approval."}
	if v.Member.Has(members.MayManageOrg) {
		empty.Text += " The policy says which sends of applications and API keys wait."
		empty.Action = &frame.Action{Path: PolicyPath, Name: "Open the policy"}
	}
	return empty
}

// broadcastPath returns the path of the page of a broadcast.
func broadcastPath(id string) string { return frame.Path + "/broadcasts/" + url.PathEscape(id) }
