package access

import (
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// credentialRow is a row of an API key or an OAuth client.
type credentialRow struct {
	ID          string           `db:"id"`
	OrgID       string           `db:"org_id"`
	PublicName  string           `db:"public_name"` // client_id or prefix
	Name        string           `db:"name"`
	Environment core.Environment `db:"environment"`
	SecretHash  []byte           `db:"secret_hash"`
	Scopes      string           `db:"scopes"`
	CreatedAt   engine.Time      `db:"created_at"`
	RevokedAt   *engine.Time     `db:"revoked_at"`
	ExpiresAt   *engine.Time     `db:"expires_at"`
	// The fields from here on are set only for clients.
	RedirectURIs string `db:"redirect_uris"` // a JSON array
	RefreshDays  int    `db:"refresh_days"`

	Kind           access.ClientKind `db:"kind"`
	DocumentReadAt *engine.Time      `db:"document_read_at"`
}

// Scopes are stored as OAuth writes them (RFC 6749 section 3.3): separated by a space.

// joinScopes returns the stored form of scopes.
func joinScopes(scopes core.Scopes) string { return strings.Join(scopes.Strings(), " ") }

// splitScopes decodes the stored form. "" is no scope.
func splitScopes(stored string) core.Scopes { return core.NewScopes(strings.Fields(stored)...) }
