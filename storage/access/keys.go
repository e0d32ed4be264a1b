package access

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// keyStore is [access.KeyStore].
type keyStore struct{ db *engine.DB }

//nolint:gosec // names of columns, no secret
const apiKeyColumns = `id, org_id, prefix AS public_name, name, environment, secret_hash, scopes, created_at, revoked_at, expires_at, owner`

var (
	insertAPIKey = engine.Register("insert api key", `
		INSERT INTO api_keys (org_id, id, name, environment, prefix, secret_hash, scopes, created_at, revoked_at, expires_at, owner)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
		ON CONFLICT DO NOTHING`)
	// apiKeysByPrefix selects the API keys with a prefix through the index
	// api_keys_by_prefix. A prefix is not unique, so the caller compares the secret with
	// each row.
	apiKeysByPrefix = engine.RegisterPoint("api keys by prefix", `
		SELECT `+apiKeyColumns+` FROM api_keys WHERE environment = $1 AND prefix = $2 ORDER BY org_id, id`)
	// revokeAPIKey sets an API key's time of revocation, unless the key is revoked already.
	revokeAPIKey = engine.Register("revoke api key", `
		UPDATE api_keys SET revoked_at = coalesce(revoked_at, $1) WHERE org_id = $2 AND id = $3`)

	// apiKeysOf returns every key of the organization, revoked ones too, newest first.
	apiKeysOf = engine.Register("api keys of org", `
		SELECT `+apiKeyColumns+` FROM api_keys WHERE org_id = $1 ORDER BY created_at DESC, id DESC`)
	// holdAPIKey locks the API key until the transaction ends, so that it cannot change
	// between reading and writing. SQLite needs no lock, because it has one writer at a
	// time.
	holdAPIKey = engine.Register("hold api key", `
		SELECT `+apiKeyColumns+` FROM api_keys WHERE org_id = $1 AND id = $2 /*pg FOR UPDATE*/`)
	setAPIKeyScopes = engine.Register("set api key scopes", `
		UPDATE api_keys SET scopes = $1 WHERE org_id = $2 AND id = $3`)
	// setAPIKeyExpiry sets the time at which a rotated key becomes invalid.
	setAPIKeyExpiry = engine.Register("set api key expiry", `
		UPDATE api_keys SET expires_at = $1 WHERE org_id = $2 AND id = $3`)
	// apiKeysPastGrace selects unrevoked keys of all organizations whose grace period is
	// over, through the partial index api_keys_grace.
	apiKeysPastGrace = engine.Register("api keys past grace", `
		SELECT `+apiKeyColumns+` FROM api_keys WHERE expires_at <= $1 AND revoked_at IS NULL
		ORDER BY expires_at, id LIMIT $2`)
)

func (s keyStore) InsertAPIKey(ctx context.Context, k access.APIKey) error {
	taken := core.Conflict("An API key with this id exists already.", "Mint another id.")
	return s.db.Insert(ctx, taken, insertAPIKey, k.OrgID, k.ID, k.Name, string(k.Environment), k.Prefix, k.SecretHash,
		joinScopes(k.Scopes), engine.At(k.CreatedAt), engine.OptionalAt(k.RevokedAt), engine.OptionalAt(k.ExpiresAt), k.Owner)
}

func (s keyStore) APIKeys(ctx context.Context, env core.Environment, prefix string) ([]access.APIKey, error) {
	return s.apiKeys(ctx, apiKeysByPrefix, string(env), prefix)
}

func (s keyStore) RevokeAPIKey(ctx context.Context, orgID, id string, at time.Time) error {
	return s.db.Change(ctx, "API key", revokeAPIKey, engine.At(at), orgID, id)
}

func (s keyStore) APIKeysOf(ctx context.Context, orgID string) ([]access.APIKey, error) {
	return s.apiKeys(ctx, apiKeysOf, orgID)
}

func (s keyStore) APIKey(ctx context.Context, orgID, id string) (access.APIKey, error) {
	row, err := engine.One[credentialRow](ctx, s.db, "API key", holdAPIKey, orgID, id)
	if err != nil {
		return access.APIKey{}, err
	}
	return row.apiKey(), nil
}

func (s keyStore) SetAPIKeyScopes(ctx context.Context, orgID, id string, scopes core.Scopes) error {
	return s.db.Change(ctx, "API key", setAPIKeyScopes, joinScopes(scopes), orgID, id)
}

func (s keyStore) SetAPIKeyExpiry(ctx context.Context, orgID, id string, at time.Time) error {
	return s.db.Change(ctx, "API key", setAPIKeyExpiry, engine.At(at), orgID, id)
}

func (s keyStore) APIKeysPastGrace(ctx context.Context, now time.Time, limit int) ([]access.APIKey, error) {
	return s.apiKeys(ctx, apiKeysPastGrace, engine.At(now), limit)
}

// apiKeys returns the API keys that the statement selects, in the order of the statement.
func (s keyStore) apiKeys(ctx context.Context, statement *engine.Statement, args ...any) ([]access.APIKey, error) {
	return engine.ListAs(ctx, s.db, credentialRow.apiKey, statement, args...)
}

// apiKey converts the row to an access.APIKey. The columns that only OAuth clients have are
// ignored.
func (row credentialRow) apiKey() access.APIKey {
	return access.APIKey{
		ID: row.ID, OrgID: row.OrgID, Name: row.Name, Environment: row.Environment, Prefix: row.PublicName,
		SecretHash: row.SecretHash, Scopes: splitScopes(row.Scopes), CreatedAt: row.CreatedAt.Time(),
		RevokedAt: engine.OptionalTime(row.RevokedAt), ExpiresAt: engine.OptionalTime(row.ExpiresAt), Owner: row.Owner,
	}
}
