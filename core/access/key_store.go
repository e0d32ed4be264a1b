package access

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// KeyStore is what [Lifecycle] needs remembered of API keys and clients beyond
// [Store], which finds them by what a caller presents. Finders and changes fail
// with core.CodeNotFound when the organization has no such thing. Every method
// takes part in the transaction of its context.
type KeyStore interface {
	// APIKeysOf lists an organization's keys, newest first, revoked ones too.
	APIKeysOf(ctx context.Context, orgID string) ([]APIKey, error)
	// APIKey finds by id, revoked ones too. In a transaction nobody else changes
	// the key until it ends.
	APIKey(ctx context.Context, orgID, id string) (APIKey, error)
	SetAPIKeyScopes(ctx context.Context, orgID, id string, scopes core.Scopes) error
	SetAPIKeyExpiry(ctx context.Context, orgID, id string, at time.Time) error
	// APIKeysPastGrace lists keys of all organizations that expired at now or
	// before and are not revoked yet, longest expired first, at most limit.
	APIKeysPastGrace(ctx context.Context, now time.Time, limit int) ([]APIKey, error)

	// ClientsOf lists an organization's clients, newest first, revoked ones too.
	ClientsOf(ctx context.Context, orgID string) ([]Client, error)
	// ClientByID finds by the UUID, not the public client id, and holds it like
	// APIKey does.
	ClientByID(ctx context.Context, orgID, id string) (Client, error)
	// SetClient stores the name, scopes, redirect URIs and refresh lifetime that c
	// says for the client with its OrgID and ID.
	SetClient(ctx context.Context, c Client) error
	SetClientSecret(ctx context.Context, orgID, id string, hash []byte) error
}
