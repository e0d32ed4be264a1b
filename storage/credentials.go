package storage

import (
	"cmp"
	"context"
	"strings"
	"time"

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

var (
	insertClient = engine.Register("insert client", `
		INSERT INTO clients (org_id, id, client_id, name, environment, secret_hash, scopes, redirect_uris, refresh_days,
			kind, document_read_at, created_at, revoked_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
		ON CONFLICT DO NOTHING`)
	clientByClientID = engine.RegisterPoint("client by client id", `SELECT `+clientColumns+` FROM clients WHERE client_id = $1`)
	revokeClient     = engine.Register("revoke client", `
		UPDATE clients SET revoked_at = coalesce(revoked_at, $1) WHERE org_id = $2 AND id = $3`)

	insertAPIKey = engine.Register("insert api key", `
		INSERT INTO api_keys (org_id, id, name, environment, prefix, secret_hash, scopes, created_at, revoked_at, expires_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
		ON CONFLICT DO NOTHING`)
	apiKeysByPrefix = engine.RegisterPoint("api keys by prefix", `
		SELECT `+apiKeyColumns+` FROM api_keys WHERE environment = $1 AND prefix = $2 ORDER BY org_id, id`)
	revokeAPIKey = engine.Register("revoke api key", `
		UPDATE api_keys SET revoked_at = coalesce(revoked_at, $1) WHERE org_id = $2 AND id = $3`)
)

func (s clientStore) InsertClient(ctx context.Context, c access.Client) error {
	redirects, err := engine.JSONParameter(c.RedirectURIs)
	if err != nil {
		return err
	}
	taken := core.Conflict("A client with this id exists already.", "Mint another client id.")
	return s.db.Insert(ctx, taken, insertClient, c.OrgID, c.ID, c.ClientID, c.Name, string(c.Environment), c.SecretHash,
		joinScopes(c.Scopes), redirects, c.RefreshDays, string(cmp.Or(c.Kind, access.RegisteredClient)),
		engine.OptionalAt(c.DocumentReadAt), engine.At(c.CreatedAt), engine.OptionalAt(c.RevokedAt))
}

func (s clientStore) Client(ctx context.Context, clientID string) (access.Client, error) {
	row, err := engine.One[credentialRow](ctx, s.db, "client", clientByClientID, clientID)
	if err != nil {
		return access.Client{}, err
	}
	return row.client()
}

func (s clientStore) RevokeClient(ctx context.Context, orgID, id string, at time.Time) error {
	return s.db.Change(ctx, "client", revokeClient, engine.At(at), orgID, id)
}

func (s keyStore) InsertAPIKey(ctx context.Context, k access.APIKey) error {
	taken := core.Conflict("An API key with this id exists already.", "Mint another id.")
	return s.db.Insert(ctx, taken, insertAPIKey, k.OrgID, k.ID, k.Name, string(k.Environment), k.Prefix, k.SecretHash,
		joinScopes(k.Scopes), engine.At(k.CreatedAt), engine.OptionalAt(k.RevokedAt), engine.OptionalAt(k.ExpiresAt))
}

func (s keyStore) APIKeys(ctx context.Context, env core.Environment, prefix string) ([]access.APIKey, error) {
	return s.apiKeys(ctx, apiKeysByPrefix, string(env), prefix)
}

func (s keyStore) RevokeAPIKey(ctx context.Context, orgID, id string, at time.Time) error {
	return s.db.Change(ctx, "API key", revokeAPIKey, engine.At(at), orgID, id)
}

// Scopes are stored as OAuth writes them (RFC 6749 section 3.3): separated by a space.

func joinScopes(scopes core.Scopes) string { return strings.Join(scopes.Strings(), " ") }

func splitScopes(stored string) core.Scopes { return core.NewScopes(strings.Fields(stored)...) }
