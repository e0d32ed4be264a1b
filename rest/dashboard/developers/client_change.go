package developers

import (
	"context"
	"net/http"

	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// clientSecret is the data of the page that shows a new client secret. The page can be
// shown only once.
type clientSecret struct {
	Client clientRow
	Secret string // "" for a public client
	New    bool   // the client was just registered
	// TokenURL is the token endpoint to which the client sends the secret. Resource is the
	// API for which the client requests a token at that endpoint.
	TokenURL, Resource string
}

// showClientSecret writes the page with a client's new secret. The secret is not stored, so
// the page cannot be shown again.
func (h clientHandlers) showClientSecret(w http.ResponseWriter, r *http.Request, v people.Visitor, s clientSecret) {
	s.TokenURL, s.Resource = h.AuthURL+"/oauth/token", h.APIURL
	title := "The new secret of " + s.Client.Name
	switch {
	case s.Secret == "":
		title = s.Client.Name + " is registered"
	case s.New:
		title = "The secret of " + s.Client.Name
	}
	h.Show(w, r, v, http.StatusOK, frame.Screen{Page: "client_secret", Title: title, Data: s})
}

// clientDecision is the data of a page that asks for confirmation before a client is
// changed or revoked.
type clientDecision struct {
	Form   frame.Form
	Client clientRow
}

// showRotateSecret shows the page that asks for confirmation before a client's secret is
// replaced. It refuses public clients, which have no secret.
func (h clientHandlers) showRotateSecret(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	c, ok := h.workingClientOf(w, r, v)
	if !ok {
		return
	}
	if c.SecretHash == nil {
		h.Refuse(w, r, v, http.StatusConflict, "This application is public and has no secret", "Register a confidential application if it needs one.")
		return
	}
	row := newClientRow(c)
	h.Show(w, r, v, http.StatusOK, frame.Screen{Page: "client_rotate", Title: "Rotate the secret of " + row.Name + "?", Head: underClient(row), Data: clientDecision{
		Form: frame.FormTo(v, row.Path+"/secret"), Client: row,
	}})
}

// rotateSecret replaces a client's secret and shows the new one. The old secret is invalid
// from then on.
func (h clientHandlers) rotateSecret(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	found, ok := h.clientOf(w, r, v)
	if !ok {
		return
	}
	var changed access.Client
	var secret string
	err := h.withClient(r.Context(), v, found.ID, func(ctx context.Context, m members.Member, c access.Client) error {
		if err := checkHandedOut(c.Scopes, m); err != nil {
			return err
		}
		var err error
		changed, secret, err = h.lifecycle(v).RotateClientSecret(ctx, access.ActorOf(v.User.ID), v.Org.ID, c.ID)
		return err
	})
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	h.showClientSecret(w, r, v, clientSecret{Client: newClientRow(changed), Secret: secret})
}

// showRevokeClient shows the page that asks for confirmation before a client is revoked. If
// the organization requires a recent proof of a second factor, it first asks for this
// proof.
func (h clientHandlers) showRevokeClient(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	c, ok := h.workingClientOf(w, r, v)
	if !ok || !h.Confirm(w, r, v, ClientsPath+"/"+c.ID+"/revoke") {
		return
	}
	row := newClientRow(c)
	h.Show(w, r, v, http.StatusOK, frame.Screen{Page: "client_revoke", Title: "Revoke " + row.Name + "?", Head: underClient(row), Data: clientDecision{
		Form: frame.FormTo(v, row.Path+"/revoke"), Client: row,
	}})
}

// revokeClient revokes a client with all its tokens and grants, and redirects to the list
// of clients.
func (h clientHandlers) revokeClient(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	c, ok := h.clientOf(w, r, v)
	if !ok || !h.Confirm(w, r, v, ClientsPath+"/"+c.ID+"/revoke") {
		return
	}
	if _, err := h.lifecycle(v).RevokeClient(r.Context(), access.ActorOf(v.User.ID), v.Org.ID, c.ID); err != nil {
		h.Fail(w, r, v, err)
		return
	}
	frame.RedirectWithNotice(w, ClientsPath, "revoked")
}
