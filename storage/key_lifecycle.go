package storage

import (
	"context"
	"fmt"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// keyStore is [access.KeyStore].
type keyStore struct{ db *engine.DB }

// Keys returns the store of API keys.
func (db *DB) Keys() access.KeyStore { return keyStore{db.DB} }

// clientStore is [access.ClientStore] and [access.OpenClientStore].
type clientStore struct{ db *engine.DB }

// Clients returns the store of OAuth clients.
func (db *DB) Clients() access.ClientStore { return clientStore{db.DB} }

// OpenClients returns the store of the clients that belong to no organization.
func (db *DB) OpenClients() access.OpenClientStore { return clientStore{db.DB} }

const (
	//nolint:gosec // names of columns, no secret
	apiKeyColumns = `id, org_id, prefix AS public_name, name, environment, secret_hash, scopes, created_at, revoked_at, expires_at`
	clientColumns = `id, org_id, client_id AS public_name, name, environment, secret_hash, scopes, redirect_uris, refresh_days,
		kind, document_read_at, created_at, revoked_at`
)

var (
	apiKeysOf = engine.Register("api keys of org", `
		SELECT `+apiKeyColumns+` FROM api_keys WHERE org_id = $1 ORDER BY created_at DESC, id DESC`)
	holdAPIKey = engine.Register("hold api key", `
		SELECT `+apiKeyColumns+` FROM api_keys WHERE org_id = $1 AND id = $2 /*pg FOR UPDATE*/`)
	setAPIKeyScopes = engine.Register("set api key scopes", `
		UPDATE api_keys SET scopes = $1 WHERE org_id = $2 AND id = $3`)
	setAPIKeyExpiry = engine.Register("set api key expiry", `
		UPDATE api_keys SET expires_at = $1 WHERE org_id = $2 AND id = $3`)
	apiKeysPastGrace = engine.Register("api keys past grace", `
		SELECT `+apiKeyColumns+` FROM api_keys WHERE expires_at <= $1 AND revoked_at IS NULL
		ORDER BY expires_at, id LIMIT $2`)

	clientsOf = engine.Register("clients of org", `
		SELECT `+clientColumns+` FROM clients WHERE org_id = $1 ORDER BY created_at DESC, id DESC`)
	holdClient = engine.Register("hold client", `
		SELECT `+clientColumns+` FROM clients WHERE org_id = $1 AND id = $2 /*pg FOR UPDATE*/`)
	setClient = engine.Register("set client", `
		UPDATE clients SET name = $1, scopes = $2, redirect_uris = $3, refresh_days = $4 WHERE org_id = $5 AND id = $6`)
	setClientSecret = engine.Register("set client secret", `
		UPDATE clients SET secret_hash = $1 WHERE org_id = $2 AND id = $3`)
)

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

func (s keyStore) apiKeys(ctx context.Context, statement *engine.Statement, args ...any) ([]access.APIKey, error) {
	rows, err := engine.List[credentialRow](ctx, s.db, statement, args...)
	if err != nil {
		return nil, err
	}
	keys := make([]access.APIKey, len(rows))
	for i, row := range rows {
		keys[i] = row.apiKey()
	}
	return keys, nil
}

func (row credentialRow) apiKey() access.APIKey {
	return access.APIKey{
		ID: row.ID, OrgID: row.OrgID, Name: row.Name, Environment: row.Environment, Prefix: row.PublicName,
		SecretHash: row.SecretHash, Scopes: splitScopes(row.Scopes), CreatedAt: row.CreatedAt.Time(),
		RevokedAt: engine.OptionalTime(row.RevokedAt), ExpiresAt: engine.OptionalTime(row.ExpiresAt),
	}
}

func (s clientStore) ClientsOf(ctx context.Context, orgID string) ([]access.Client, error) {
	rows, err := engine.List[credentialRow](ctx, s.db, clientsOf, orgID)
	if err != nil {
		return nil, err
	}
	clients := make([]access.Client, len(rows))
	for i, row := range rows {
		if clients[i], err = row.client(); err != nil {
			return nil, err
		}
	}
	return clients, nil
}

func (s clientStore) ClientByID(ctx context.Context, orgID, id string) (access.Client, error) {
	row, err := engine.One[credentialRow](ctx, s.db, "client", holdClient, orgID, id)
	if err != nil {
		return access.Client{}, err
	}
	return row.client()
}

func (s clientStore) SetClient(ctx context.Context, c access.Client) error {
	redirects, err := engine.JSONParameter(c.RedirectURIs)
	if err != nil {
		return err
	}
	return s.db.Change(ctx, "client", setClient, c.Name, joinScopes(c.Scopes), redirects, c.RefreshDays, c.OrgID, c.ID)
}

func (s clientStore) SetClientSecret(ctx context.Context, orgID, id string, hash []byte) error {
	return s.db.Change(ctx, "client", setClientSecret, hash, orgID, id)
}

func (row credentialRow) client() (access.Client, error) {
	redirects, err := storedList[string](row.RedirectURIs)
	if err != nil {
		return access.Client{}, fmt.Errorf("storage: redirect URIs of client %s: %w", row.ID, err)
	}
	return access.Client{
		ID: row.ID, ClientID: row.PublicName, OrgID: row.OrgID, Name: row.Name, Environment: row.Environment,
		SecretHash: row.SecretHash, Scopes: splitScopes(row.Scopes),
		RedirectURIs: redirects, RefreshDays: row.RefreshDays,
		Kind: row.Kind, DocumentReadAt: engine.OptionalTime(row.DocumentReadAt),
		CreatedAt: row.CreatedAt.Time(), RevokedAt: engine.OptionalTime(row.RevokedAt),
	}, nil
}
