package access

import (
	"cmp"
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// NewClient is the input of [Lifecycle.CreateClient].
type NewClient struct {
	// ID is the id of the new client; "" generates one. A second call with the same id fails
	// with core.CodeConflict.
	ID          string
	OrgID       string
	Name        string
	Environment core.Environment
	Scopes      core.Scopes
	// Public clients have no secret. They are programs on other people's computers, where a
	// secret cannot be kept from these people.
	Public       bool
	RedirectURIs []string
	RefreshDays  int // see [Client].RefreshDays
}

// CreateClient registers an OAuth client and returns it with its secret, which is not
// stored; it is "" for a public client. It fails with core.CodeValidationFailed for a
// refused name, scope, redirect URI or lifetime, and with core.CodeNotFound for an
// unknown organization.
func (l Lifecycle) CreateClient(ctx context.Context, actor Actor, n NewClient) (Client, string, error) {
	client := Client{
		ID: cmp.Or(n.ID, core.NewID()), ClientID: MintClientID(n.Environment), OrgID: n.OrgID, Name: n.Name, Environment: n.Environment,
		RedirectURIs: n.RedirectURIs, RefreshDays: n.RefreshDays, Scopes: n.Scopes,
		Kind: RegisteredClient,
	}
	if err := checkEnvironment(n.Environment); err != nil {
		return Client{}, "", err
	}
	minted := Minted{}
	if !n.Public {
		minted = MintClientSecret()
		client.SecretHash = minted.Hash
	}
	if err := client.check(); err != nil {
		return Client{}, "", err
	}
	err := l.change(ctx, func(ctx context.Context, now time.Time) error {
		if _, err := l.Orgs.Org(ctx, n.OrgID); err != nil {
			return err
		}
		client.CreatedAt = now
		if err := l.Clients.InsertClient(ctx, client); err != nil {
			return err
		}
		return l.record(ctx, now, AuditEntry{
			Actor: actor, Action: "oauth_client.created", OrgID: client.OrgID, Subject: client.ID,
			Detail: creationDetail{client.Environment, client.Scopes.Strings()},
		})
	})
	if err != nil {
		return Client{}, "", err
	}
	return client, minted.Secret, nil
}
