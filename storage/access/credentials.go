package access

import (
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// credentialRow is a row of the table api_keys, or of clients, the table of OAuth clients.
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
	Owner       string           `db:"owner"` // set only for API keys
	// The fields below are set only for OAuth clients, not for API keys.
	RedirectURIs string `db:"redirect_uris"` // a JSON array
	RefreshDays  int    `db:"refresh_days"`

	Kind           access.ClientKind `db:"kind"`
	DocumentReadAt *engine.Time      `db:"document_read_at"`
}

// Scopes are stored as one string, separated by spaces, as in OAuth (RFC 6749 section 3.3).

// joinScopes returns the scopes as one string, separated by spaces.
func joinScopes(scopes core.Scopes) string { return strings.Join(scopes.Strings(), " ") }

// splitScopes parses scopes that are separated by spaces. For "" it returns no scopes.
func splitScopes(stored string) core.Scopes { return core.NewScopes(strings.Fields(stored)...) }
