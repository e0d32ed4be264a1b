package webhooks

import (
	"context"
	"embed"
	"net/http"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/core/webhooks"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

//go:embed pages/*.html
var templates embed.FS

// The paths of the pages.
const (
	ListPath = frame.Path + "/webhooks"
	newPath  = ListPath + "/new"
)

// guide is the page of the documentation about webhooks.
const guide = "/guides/event-webhooks"

// Webhooks has the pages about webhook endpoints; see dashboard.Room.
type Webhooks struct {
	*frame.Pages
	hooks webhooks.Webhooks
}

// New returns the pages about webhook endpoints. They change endpoints with a copy of hooks
// whose Transactor checks the visitor's permissions. New fails if the templates cannot be
// read.
func New(f *frame.Frame, hooks webhooks.Webhooks) (*Webhooks, error) {
	pages, err := f.Pages(templates)
	if err != nil {
		return nil, err
	}
	return &Webhooks{pages, hooks}, nil
}

// Routes returns the routes of the pages. An endpoint is a credential, and it receives the
// addresses of recipients. So every page needs two permissions: to manage credentials, and to
// see recipients.
func (h *Webhooks) Routes() []frame.Route {
	routes := []frame.Route{
		{Path: "/webhooks", Get: h.showEndpoints},
		{Path: "/webhooks/new", Get: h.showNew, Post: h.create},
		{Path: "/webhooks/{id}", Get: h.showEndpoint},
		{Path: "/webhooks/{id}/edit", Get: h.showEdit, Post: h.edit},
		{Path: "/webhooks/{id}/test", Post: h.sendTest},
		{Path: "/webhooks/{id}/rotate", Get: h.showRotate, Post: h.rotate},
		{Path: "/webhooks/{id}/delete", Get: h.showDelete, Post: h.delete},
		{Path: "/webhooks/{id}/deliveries/{delivery}", Get: h.showDelivery},
		{Path: "/webhooks/{id}/deliveries/{delivery}/resend", Post: h.resend},
	}
	for i := range routes {
		routes[i].Needs = members.MayManageCredentials
		routes[i].Get, routes[i].Post = h.seesRecipients(routes[i].Get), h.seesRecipients(routes[i].Post)
	}
	return routes
}

// seesRecipients returns a handler that calls next for visitors who may see recipients, and
// refuses others. It returns nil for nil.
func (h *Webhooks) seesRecipients(next frame.Handler) frame.Handler {
	if next == nil {
		return nil
	}
	return func(w http.ResponseWriter, r *http.Request, v people.Visitor) {
		if !v.Member.Has(members.MaySearchRecipients) {
			h.Refuse(w, r, v, http.StatusForbidden, "Permission missing",
				"You need the permission "+string(members.MaySearchRecipients)+" in "+v.Org.Name+", because endpoints receive the addresses of recipients. Ask a member who may manage members.")
			return
		}
		next(w, r, v)
	}
}

// permitted returns the operations on endpoints for a visitor. Each checks inside its
// transaction that the visitor has both permissions.
func (h *Webhooks) permitted(v people.Visitor) webhooks.Webhooks {
	tasks := h.hooks
	tasks.Transactor = bothTransactor{h.TransactorWith(v, members.MayManageCredentials), h.TransactorWith(v, members.MaySearchRecipients)}
	return tasks
}

// bothTransactor is a transactor whose transactions pass the checks of two transactors on the
// same database.
type bothTransactor struct{ first, second core.Transactor }

// InTx runs fn in one transaction.
func (b bothTransactor) InTx(ctx context.Context, fn func(context.Context) error) error {
	return b.first.InTx(ctx, func(ctx context.Context) error { return b.second.InTx(ctx, fn) })
}

// endpointOf returns the endpoint whose id is in the path. If it returns false, it has
// written the response: a page of status 404 or an error.
func (h *Webhooks) endpointOf(w http.ResponseWriter, r *http.Request, v people.Visitor) (webhooks.Endpoint, bool) {
	id := r.PathValue("id")
	if !core.IsID(id) {
		h.NoSuchPage(w, r, v)
		return webhooks.Endpoint{}, false
	}
	e, err := h.hooks.Store.Endpoint(r.Context(), v.Org.ID, id)
	if err != nil {
		h.Fail(w, r, v, err)
		return webhooks.Endpoint{}, false
	}
	return e, true
}

// refuseOrFail writes the page for a failed change: a refusal with the next step if the
// change contradicts what is stored, otherwise the error.
func (h *Webhooks) refuseOrFail(w http.ResponseWriter, r *http.Request, v people.Visitor, heading string, err error) {
	if core.IsConflict(err) {
		h.Refuse(w, r, v, core.AsError(err).HTTPStatus(), heading, frame.TextOf(err))
		return
	}
	h.Fail(w, r, v, err)
}
