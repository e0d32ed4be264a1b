package approvals

import (
	"context"
	"net/http"

	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// fieldDo is the form field that says what to do, and its values.
const (
	fieldDo = "do"
	doStop  = "stop"
	doAllow = "allow"
)

// stopPage is the data of the page that stops all mail and allows it again.
type stopPage struct {
	Form    frame.Form
	Stopped bool
	Since   frame.When
	By      string
	Back    string
}

// showStop asks whether to stop all mail, or to allow it again.
func (h stopHandlers) showStop(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	stop, err := h.Stops.Stopped(r.Context(), v.Org.ID)
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	data := stopPage{Form: frame.FormTo(v, frame.StopPath), Back: frame.Path}
	title := "Stop all mail?"
	if stop != nil {
		data.Stopped, data.Since, title = true, h.When(stop.At), "Allow mail again?"
		if data.By, err = h.stopper(r, v, stop.By); err != nil {
			h.Fail(w, r, v, err)
			return
		}
	}
	h.Show(w, r, v, http.StatusOK, frame.Screen{Page: "stop", Title: title, Notice: notices.NoticeOf(r), Data: data})
}

// stopper returns the words for the person who stopped the mail.
func (h stopHandlers) stopper(r *http.Request, v people.Visitor, by string) (string, error) {
	if by == access.Operator {
		return "the operator", nil
	}
	return h.Actors.For(v).Person(r.Context(), by)
}

// changeStop stops all mail or allows it again, and redirects to the page.
func (h stopHandlers) changeStop(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	change, notice := h.Limits.StopMail, "stopped"
	switch r.PostForm.Get(fieldDo) {
	case doStop:
	case doAllow:
		change, notice = h.Limits.AllowMail, "allowed"
	default:
		h.Refuse(w, r, v, http.StatusUnprocessableEntity, "Some fields are missing", "Open the page again and choose whether to stop all mail or to allow it.")
		return
	}
	err := h.TransactorWith(v, members.MayManageCampaigns).InTx(r.Context(), func(ctx context.Context) error {
		return change(ctx, access.ActorOf(v.User.ID), v.Org.ID)
	})
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	h.Wake()
	frame.RedirectWithNotice(w, frame.StopPath, notice)
}
