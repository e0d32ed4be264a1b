package access

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// maxRedirectURIs is the maximum number of redirect URIs of a client.
const maxRedirectURIs = 20

// refreshDays are the allowed values of Client.RefreshDays; 0 means forever.
var refreshDays = []int{0, 30, 90, 365}

// EditClient stores the name, scopes, redirect URIs and refresh lifetime of c for the
// client with the OrgID and ID of c, and returns the stored client. It fails with
// core.CodeValidationFailed for a refused field, with core.CodeNotFound for an unknown
// client, and with core.CodeConflict for a revoked one.
func (l Lifecycle) EditClient(ctx context.Context, actor Actor, c Client) (Client, error) {
	var stored Client
	err := l.change(ctx, func(ctx context.Context, now time.Time) error {
		var err error
		if stored, err = l.Clients.ClientByID(ctx, c.OrgID, c.ID); err != nil {
			return err
		}
		if stored.RevokedAt != nil {
			return core.Conflict("This OAuth client was revoked.", "Register a new client.")
		}
		before := stored
		stored.Name, stored.Scopes, stored.RedirectURIs, stored.RefreshDays = c.Name, c.Scopes, c.RedirectURIs, c.RefreshDays
		if err := stored.check(); err != nil {
			return err
		}
		if err := l.Clients.SetClient(ctx, stored); err != nil {
			return err
		}
		return l.record(ctx, now, AuditEntry{
			Actor: actor, Action: "oauth_client.updated", OrgID: c.OrgID, Subject: c.ID, Detail: diffClients(before, stored),
		})
	}, c.ID)
	if err != nil {
		return Client{}, err
	}
	return stored, nil
}

// clientDiff is the audit detail of an edit of a client; unchanged fields are nil.
type clientDiff struct {
	scopeDiff
	Name         *Edited `json:"name,omitempty"`
	RedirectURIs *Edited `json:"redirect_uris,omitempty"`
	RefreshDays  *Edited `json:"refresh_days,omitempty"`
}

func diffClients(before, after Client) clientDiff {
	d := clientDiff{scopeDiff: diffScopes(before.Scopes, after.Scopes)}
	if before.Name != after.Name {
		d.Name = &Edited{before.Name, after.Name}
	}
	if !slices.Equal(before.RedirectURIs, after.RedirectURIs) {
		d.RedirectURIs = &Edited{append([]string{}, before.RedirectURIs...), append([]string{}, after.RedirectURIs...)}
	}
	if before.RefreshDays != after.RefreshDays {
		d.RefreshDays = &Edited{before.RefreshDays, after.RefreshDays}
	}
	return d
}

// check validates the fields of c and sorts the scopes. It fails with
// core.CodeValidationFailed for an invalid field.
func (c *Client) check() error {
	if err := CheckName(c.Name); err != nil {
		return err
	}
	scopes, err := checkScopes(c.Scopes)
	if err != nil {
		return err
	}
	c.Scopes = scopes
	switch {
	case !slices.Contains(refreshDays, c.RefreshDays):
		return core.Invalid("refresh_days", "must be 30, 90 or 365, or 0 for no end")
	case len(c.RedirectURIs) > maxRedirectURIs:
		return core.Invalid("redirect_uris", fmt.Sprintf("must have at most %d items", maxRedirectURIs))
	case len(c.RedirectURIs) == 0 && c.SecretHash == nil:
		return core.Invalid("redirect_uris", "must not be empty for a public client, which gets tokens only through a redirect")
	}
	for _, uri := range c.RedirectURIs {
		if err := CheckRedirectURI(uri); err != nil {
			return core.Invalid("redirect_uris", err.Error())
		}
	}
	return nil
}
