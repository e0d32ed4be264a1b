// Package access knows who may call: organizations, their users, API keys, OAuth
// clients and the keys that sign tokens. It mints and checks secrets and turns a
// bearer credential into a [core.Principal].
//
// It does not issue tokens (oauth does) and does not decide what a principal may
// do (guardrails does). Secrets are stored as SHA-256 of 256 random bits, user
// passwords as argon2id, signing keys sealed with the configured master key.
package access

import (
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// User is a person with a password. Users belong to organizations by membership.
type User struct {
	ID           string
	Email        string
	Name         string
	PasswordHash string // argon2id in PHC string format
	CreatedAt    time.Time
}

// Client is a registered OAuth client of one organization. Client ids are public
// and begin with oc_live_ or oc_test_.
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
	// DocumentReadAt is when a metadata document was last read and found good.
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

// APIKey is a key for the public API. Prefix is the first eight characters after
// sk_live_ or sk_test_, kept in plain text so that people can tell keys apart.
type APIKey struct {
	ID          string // UUID
	OrgID       string
	Name        string
	Environment core.Environment
	Prefix      string
	SecretHash  []byte // SHA-256 of the whole secret
	Scopes      core.Scopes
	CreatedAt   time.Time
	RevokedAt   *time.Time
	// ExpiresAt is set on a rotated key: the end of its 24 hours of grace.
	ExpiresAt *time.Time
}

// SigningKey signs access tokens. Sealed is the private key, PKCS #8 in DER,
// encrypted with the master key.
type SigningKey struct {
	ID        string // the JWK's kid
	Algorithm string // "ES256"
	Sealed    []byte
	CreatedAt time.Time
	// RetiredAt is set by a rotation and may lie ahead: until then the key signs,
	// and afterwards it is still published while its tokens live.
	RetiredAt *time.Time
}

// AuditEvent is one line of the audit log. It names things by id: no address, no
// secret, no argument.
type AuditEvent struct {
	ID         string
	OrgID      string
	OccurredAt time.Time
	// Action is an operation's name or a lifecycle slug: api_key.created.
	Action string
	// ActorKind is api_key, oauth_client, user, operator or system.
	ActorKind string
	ActorID   string
	Surface   core.Surface
	// SubjectID is the id of what was changed, "" when there is none.
	SubjectID string
	RequestID string
	// Detail is a JSON object, "{}" when there is nothing to add.
	Detail string
}
