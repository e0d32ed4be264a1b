package storage

import (
	"context"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
)

// credentialRow is a row of either kind of credential.
type credentialRow struct {
	ID          string           `db:"id"`
	OrgID       string           `db:"org_id"`
	PublicName  string           `db:"public_name"` // client_id or prefix
	Name        string           `db:"name"`
	Environment core.Environment `db:"environment"`
	SecretHash  []byte           `db:"secret_hash"`
	Scopes      string           `db:"scopes"`
	CreatedAt   Time             `db:"created_at"`
	RevokedAt   *Time            `db:"revoked_at"`
	ExpiresAt   *Time            `db:"expires_at"`
}

var (
	insertClient = register("insert client", `
		INSERT INTO clients (org_id, id, client_id, name, environment, secret_hash, scopes, created_at, revoked_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
		ON CONFLICT DO NOTHING`)
	clientByClientID = registerPoint("client by client id", `
		SELECT id, org_id, client_id AS public_name, name, environment, secret_hash, scopes, created_at, revoked_at
		FROM clients WHERE client_id = $1`)
	revokeClient = register("revoke client", `
		UPDATE clients SET revoked_at = coalesce(revoked_at, $1) WHERE org_id = $2 AND id = $3`)

	insertAPIKey = register("insert api key", `
		INSERT INTO api_keys (org_id, id, name, environment, prefix, secret_hash, scopes, created_at, revoked_at, expires_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
		ON CONFLICT DO NOTHING`)
	apiKeysByPrefix = registerPoint("api keys by prefix", `
		SELECT id, org_id, prefix AS public_name, name, environment, secret_hash, scopes, created_at, revoked_at, expires_at
		FROM api_keys WHERE environment = $1 AND prefix = $2 ORDER BY org_id, id`)
	revokeAPIKey = register("revoke api key", `
		UPDATE api_keys SET revoked_at = coalesce(revoked_at, $1) WHERE org_id = $2 AND id = $3`)
)

func (s accessStore) InsertClient(ctx context.Context, c access.Client) error {
	taken := core.Conflict("A client with this id exists already.", "Mint another client id.")
	return s.db.insert(ctx, taken, insertClient, c.OrgID, c.ID, c.ClientID, c.Name, string(c.Environment), c.SecretHash,
		joinScopes(c.Scopes), At(c.CreatedAt), optionalAt(c.RevokedAt))
}

func (s accessStore) Client(ctx context.Context, clientID string) (access.Client, error) {
	row, err := one[credentialRow](ctx, s.db, "client", clientByClientID, clientID)
	if err != nil {
		return access.Client{}, err
	}
	return access.Client{
		ID: row.ID, ClientID: row.PublicName, OrgID: row.OrgID, Name: row.Name, Environment: row.Environment,
		SecretHash: row.SecretHash, Scopes: splitScopes(row.Scopes),
		CreatedAt: row.CreatedAt.Time(), RevokedAt: optionalTime(row.RevokedAt),
	}, nil
}

func (s accessStore) RevokeClient(ctx context.Context, orgID, id string, at time.Time) error {
	return s.db.change(ctx, "client", revokeClient, At(at), orgID, id)
}

func (s accessStore) InsertAPIKey(ctx context.Context, k access.APIKey) error {
	taken := core.Conflict("An API key with this id exists already.", "Mint another id.")
	return s.db.insert(ctx, taken, insertAPIKey, k.OrgID, k.ID, k.Name, string(k.Environment), k.Prefix, k.SecretHash,
		joinScopes(k.Scopes), At(k.CreatedAt), optionalAt(k.RevokedAt), optionalAt(k.ExpiresAt))
}

func (s accessStore) APIKeys(ctx context.Context, env core.Environment, prefix string) ([]access.APIKey, error) {
	rows, err := list[credentialRow](ctx, s.db, apiKeysByPrefix, string(env), prefix)
	if err != nil {
		return nil, err
	}
	keys := make([]access.APIKey, len(rows))
	for i, row := range rows {
		keys[i] = access.APIKey{
			ID: row.ID, OrgID: row.OrgID, Name: row.Name, Environment: row.Environment, Prefix: row.PublicName,
			SecretHash: row.SecretHash, Scopes: splitScopes(row.Scopes), CreatedAt: row.CreatedAt.Time(),
			RevokedAt: optionalTime(row.RevokedAt), ExpiresAt: optionalTime(row.ExpiresAt),
		}
	}
	return keys, nil
}

func (s accessStore) RevokeAPIKey(ctx context.Context, orgID, id string, at time.Time) error {
	return s.db.change(ctx, "API key", revokeAPIKey, At(at), orgID, id)
}

// Scopes are stored as OAuth writes them (RFC 6749 section 3.3): separated by a space.

func joinScopes(scopes core.Scopes) string { return strings.Join(scopes.Strings(), " ") }

func splitScopes(stored string) core.Scopes { return core.NewScopes(strings.Fields(stored)...) }
