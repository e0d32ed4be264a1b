package dashboard

import (
	"context"
	"net/http"

	"github.com/mailhelm/mailhelm/core/access"
)

// clientSecret is what the page shows that shows a client's secret, once.
type clientSecret struct {
	Client clientRow
	Secret string // "" for a public client
	New    bool   // the client was just made
	// TokenURL is where the secret is sent, and Resource what for.
	TokenURL, Resource string
}

func (d *Dashboard) showClientSecret(w http.ResponseWriter, r *http.Request, v access.Visitor, s clientSecret) {
	s.TokenURL, s.Resource = d.AuthURL+"/oauth/token", d.APIURL
	title := "Your new application"
	if !s.New {
		title = "The new secret"
	}
	d.show(w, r, v, http.StatusOK, screen{page: "client_secret", title: title, data: s})
}

// clientDecision is what a page shows that asks before something is done with a
// client.
type clientDecision struct {
	Form   form
	Client clientRow
}

func (d *Dashboard) showRotateSecret(w http.ResponseWriter, r *http.Request, v access.Visitor) {
	c, ok := d.workingClientOf(w, r, v)
	if !ok {
		return
	}
	if c.SecretHash == nil {
		d.refuse(w, r, v, http.StatusConflict, "This application is public and has no secret", "There is nothing to renew.")
		return
	}
	row := newClientRow(c)
	d.show(w, r, v, http.StatusOK, screen{page: "client_rotate", title: "A new secret for " + row.Name + "?", data: clientDecision{
		Form: formTo(v, row.Path+"/secret"), Client: row,
	}})
}

func (d *Dashboard) rotateSecret(w http.ResponseWriter, r *http.Request, v access.Visitor) {
	found, ok := d.clientOf(w, r, v)
	if !ok {
		return
	}
	var changed access.Client
	var secret string
	err := d.withClient(r.Context(), v, found.ID, func(ctx context.Context, m access.Member, c access.Client) error {
		if err := checkHandedOut(c.Scopes, m); err != nil {
			return err
		}
		var err error
		changed, secret, err = d.lifecycle(v).RotateClientSecret(ctx, access.ActorOf(v.User.ID), v.Org.ID, c.ID)
		return err
	})
	if err != nil {
		d.fail(w, r, v, err)
		return
	}
	d.showClientSecret(w, r, v, clientSecret{Client: newClientRow(changed), Secret: secret})
}

func (d *Dashboard) showRevokeClient(w http.ResponseWriter, r *http.Request, v access.Visitor) {
	c, ok := d.workingClientOf(w, r, v)
	if !ok || !d.Frame.Confirm(w, r, v, clientsPath+"/"+c.ID+"/revoke") {
		return
	}
	row := newClientRow(c)
	d.show(w, r, v, http.StatusOK, screen{page: "client_revoke", title: "Revoke " + row.Name + "?", data: clientDecision{
		Form: formTo(v, row.Path+"/revoke"), Client: row,
	}})
}

func (d *Dashboard) revokeClient(w http.ResponseWriter, r *http.Request, v access.Visitor) {
	c, ok := d.clientOf(w, r, v)
	if !ok || !d.Frame.Confirm(w, r, v, clientsPath+"/"+c.ID+"/revoke") {
		return
	}
	if _, err := d.lifecycle(v).RevokeClient(r.Context(), access.ActorOf(v.User.ID), v.Org.ID, c.ID); err != nil {
		d.fail(w, r, v, err)
		return
	}
	noticed(w, clientsPath, "revoked")
}
