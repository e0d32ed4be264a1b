package access

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// Client is an OAuth client. Client ids are public: oc_live_... or oc_test_..., or the
// address of a metadata document.
type Client struct {
	ID          string // UUID
	ClientID    string
	OrgID       string
	Name        string
	Environment core.Environment
	SecretHash  []byte // SHA-256 of the ocs_ secret; nil for a public client
	Scopes      core.Scopes
	// RedirectURIs are where codes may be sent, compared exactly. A client without
	// any cannot use the authorization code grant.
	RedirectURIs []string
	// RefreshDays is how long after the authorization a grant of this client can
	// be refreshed: 30, 90 or 365 days; 0 means without end.
	RefreshDays int
	// Kind says who described the client. OrgID is "" for the kinds that belong to
	// no organization; every organization may let those in, and may block them.
	Kind ClientKind
	// DocumentReadAt is when a metadata document was last read and accepted.
	DocumentReadAt *time.Time
	CreatedAt      time.Time
	RevokedAt      *time.Time
}

// ClientKind says where the description of a client comes from.
type ClientKind string

// The kinds of client.
const (
	// RegisteredClient was set up by an organization, which owns it.
	RegisteredClient ClientKind = "registered"
	// DocumentClient is described by the metadata document at its client id.
	DocumentClient ClientKind = "document"
	// DynamicClient registered itself (RFC 7591).
	DynamicClient ClientKind = "dynamic"
)

// ClientStore keeps OAuth clients. Finders and changes fail with core.CodeNotFound
// when the organization has no such client. Every method takes part in the transaction
// of its context.
type ClientStore interface {
	// InsertClient fails with core.CodeConflict when the id or the client id is taken.
	InsertClient(ctx context.Context, c Client) error
	// Client finds a client of any organization by the public client id, revoked or not.
	Client(ctx context.Context, clientID string) (Client, error)
	// ClientsOf lists an organization's clients, newest first, revoked ones too.
	ClientsOf(ctx context.Context, orgID string) ([]Client, error)
	// ClientByID finds by the UUID, revoked or not. In a transaction no other
	// transaction changes the client until it ends.
	ClientByID(ctx context.Context, orgID, id string) (Client, error)
	// SetClient stores the name, scopes, redirect URIs and refresh lifetime that c
	// says for the client with its OrgID and ID.
	SetClient(ctx context.Context, c Client) error
	SetClientSecret(ctx context.Context, orgID, id string, hash []byte) error
	// RevokeClient sets the time of revocation once.
	RevokeClient(ctx context.Context, orgID, id string, at time.Time) error
}
