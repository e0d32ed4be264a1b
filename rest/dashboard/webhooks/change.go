package webhooks

import (
	"fmt"
	"net/http"

	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/core/webhooks"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// under returns the head of a page below the page of an endpoint.
func under(row endpointRow) frame.Head {
	return frame.Head{Parents: []frame.Link{{Path: row.Path, Name: row.title()}}}
}

// decision is the data of a page that asks for confirmation.
type decision struct {
	Form     frame.Form
	Endpoint endpointRow
	// InGrace is the time until which the secret before the last rotation signs, or "".
	InGrace string
}

// secretPage is the data of the page that shows a secret once.
type secretPage struct {
	Endpoint endpointRow
	Secret   string
	OldUntil string // until when the old secret also signs, "" for a new endpoint
	Guide    *frame.Link
	Test     *frame.Form // sends a test event; nil for a disabled endpoint
}

// showSecret writes the page with the secret of an endpoint. Only its encrypted form is
// stored, so the page cannot be shown again.
func (h *Webhooks) showSecret(w http.ResponseWriter, r *http.Request, v people.Visitor, e webhooks.Endpoint, secret string) {
	row := h.newRow(e)
	data := secretPage{Endpoint: row, Secret: secret, OldUntil: h.graceOf(e), Guide: h.Guide(guide, "Verify the signature")}
	if e.Enabled {
		test := frame.FormTo(v, row.Path+"/test")
		data.Test = &test
	}
	h.Show(w, r, v, http.StatusOK, frame.Screen{Page: "endpoint_secret", Title: "Signing secret", Head: under(row), Data: data})
}

// graceOf returns until when the secret before the last rotation signs, or "".
func (h *Webhooks) graceOf(e webhooks.Endpoint) string {
	if !e.IsInGrace(h.hooks.Clock()) {
		return ""
	}
	return e.PreviousUntil.UTC().Format(frame.MomentLayout)
}

// ask writes the page that asks for confirmation of a step: "rotate" or "delete".
func (h *Webhooks) ask(w http.ResponseWriter, r *http.Request, v people.Visitor, step, title string) {
	e, ok := h.endpointOf(w, r, v)
	if !ok || !h.Confirm(w, r, v, ListPath+"/"+e.ID+"/"+step) {
		return
	}
	row := h.newRow(e)
	h.Show(w, r, v, http.StatusOK, frame.Screen{Page: "endpoint_" + step, Title: fmt.Sprintf(title, row.title()), Head: under(row), Data: decision{
		Form: frame.FormTo(v, row.Path+"/"+step), Endpoint: row, InGrace: h.graceOf(e),
	}})
}

// showRotate asks for confirmation before the secret is rotated.
func (h *Webhooks) showRotate(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	h.ask(w, r, v, "rotate", "Rotate the secret of %s?")
}

// showDelete asks for confirmation before an endpoint is deleted.
func (h *Webhooks) showDelete(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	h.ask(w, r, v, "delete", "Delete %s?")
}

// rotate replaces the secret of an endpoint and shows the new one once.
func (h *Webhooks) rotate(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	e, ok := h.endpointOf(w, r, v)
	if !ok || !h.Confirm(w, r, v, ListPath+"/"+e.ID+"/rotate") {
		return
	}
	e, secret, err := h.permitted(v).Rotate(r.Context(), access.ActorOf(v.User.ID), v.Org.ID, e.ID)
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	h.showSecret(w, r, v, e, secret)
}

// delete removes an endpoint.
func (h *Webhooks) delete(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	e, ok := h.endpointOf(w, r, v)
	if !ok || !h.Confirm(w, r, v, ListPath+"/"+e.ID+"/delete") {
		return
	}
	if err := h.permitted(v).Delete(r.Context(), access.ActorOf(v.User.ID), v.Org.ID, e.ID); err != nil {
		h.Fail(w, r, v, err)
		return
	}
	frame.RedirectWithNotice(w, ListPath, "deleted")
}

// sendTest sends a test event to an endpoint.
func (h *Webhooks) sendTest(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	e, ok := h.endpointOf(w, r, v)
	if !ok {
		return
	}
	if _, err := h.permitted(v).SendTest(r.Context(), access.ActorOf(v.User.ID), v.Org.ID, e.ID); err != nil {
		h.refuseOrFail(w, r, v, "The test event was not sent", err)
		return
	}
	frame.RedirectWithNotice(w, ListPath+"/"+e.ID, "tested")
}
