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
	// RedirectURIs are the addresses to which authorization codes may be sent, compared byte
	// by byte. A client without any cannot use the authorization code grant.
	RedirectURIs []string
	// RefreshDays is how many days after the authorization a grant of this client can be
	// refreshed: 30, 90 or 365; 0 means forever.
	RefreshDays int
	// Kind is the source of the client's description. OrgID is "" for clients that described
	// themselves: they belong to no organization, and each organization may block them.
	Kind ClientKind
	// DocumentReadAt is the time when the metadata document was last read and accepted.
	DocumentReadAt *time.Time
	CreatedAt      time.Time
	RevokedAt      *time.Time
}

// ClientKind says where the description of a client comes from: from an organization that
// created the client, from a metadata document, or from the client itself.
type ClientKind string

// The kinds of client.
const (
	// RegisteredClient was created by an organization, which owns it.
	RegisteredClient ClientKind = "registered"
	// DocumentClient is described by a metadata document; the client id is the URL of the
	// document.
	DocumentClient ClientKind = "document"
	// DynamicClient is a client that registered itself (RFC 7591).
	DynamicClient ClientKind = "dynamic"
)

// ClientStore stores OAuth clients. A method that finds or changes one client fails with
// core.CodeNotFound if the client does not exist in the organization. Every method takes
// part in the transaction of its context.
type ClientStore interface {
	// InsertClient stores a client. It fails with core.CodeConflict if another client has
	// the UUID c.ID or the public client id c.ClientID.
	InsertClient(ctx context.Context, c Client) error
	// Client returns a client of any organization by its public client id, revoked or not.
	Client(ctx context.Context, clientID string) (Client, error)
	// ClientsOf returns an organization's clients, newest first, including revoked ones.
	ClientsOf(ctx context.Context, orgID string) ([]Client, error)
	// ClientByID returns a client by its UUID, revoked or not. In a transaction it locks the
	// client until the transaction ends.
	ClientByID(ctx context.Context, orgID, id string) (Client, error)
	// SetClient replaces the name, scopes, redirect URIs and refresh lifetime of the client
	// with the OrgID and ID of c.
	SetClient(ctx context.Context, c Client) error
	SetClientSecret(ctx context.Context, orgID, id string, hash []byte) error
	// RevokeClient sets the time at which a client was revoked. It does not change a time
	// that is set already.
	RevokeClient(ctx context.Context, orgID, id string, at time.Time) error
}
