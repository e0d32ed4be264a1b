package access

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// clientStore is [access.ClientStore] and [access.OpenClientStore].
type clientStore struct{ db *engine.DB }

// clientColumns selects an OAuth client as a credentialRow. API keys use the same type, so
// client_id is renamed to public_name.
const clientColumns = `id, org_id, client_id AS public_name, name, environment, secret_hash, scopes, redirect_uris, refresh_days,
		kind, document_read_at, created_at, revoked_at`

var (
	// insertClient changes nothing if the client id is taken. Client ids are unique over all
	// organizations.
	insertClient = engine.Register("insert client", `
		INSERT INTO clients (org_id, id, client_id, name, environment, secret_hash, scopes, redirect_uris, refresh_days,
			kind, document_read_at, created_at, revoked_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
		ON CONFLICT DO NOTHING`)
	// clientByClientID searches all organizations, because an OAuth request has only the
	// client id.
	clientByClientID = engine.RegisterPoint("client by client id", `SELECT `+clientColumns+` FROM clients WHERE client_id = $1`)
	// revokeClient sets a client's time of revocation. It changes nothing if the client is
	// revoked already.
	revokeClient = engine.Register("revoke client", `
		UPDATE clients SET revoked_at = coalesce(revoked_at, $1) WHERE org_id = $2 AND id = $3`)

	// clientsOf returns every client of the organization, revoked ones too, newest first.
	clientsOf = engine.Register("clients of org", `
		SELECT `+clientColumns+` FROM clients WHERE org_id = $1 ORDER BY created_at DESC, id DESC`)
	// holdClient locks the client until the transaction ends, so that it cannot change
	// between reading and writing. SQLite needs no lock, because it has one writer at a
	// time.
	holdClient = engine.Register("hold client", `
		SELECT `+clientColumns+` FROM clients WHERE org_id = $1 AND id = $2 /*pg FOR UPDATE*/`)
	// setClient changes a client's name, scopes, redirect URIs and lifetime of refresh
	// tokens.
	setClient = engine.Register("set client", `
		UPDATE clients SET name = $1, scopes = $2, redirect_uris = $3, refresh_days = $4 WHERE org_id = $5 AND id = $6`)
	// setClientSecret replaces the hash of the client secret. The previous secret stops
	// working at once.
	setClientSecret = engine.Register("set client secret", `
		UPDATE clients SET secret_hash = $1 WHERE org_id = $2 AND id = $3`)
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

func (s clientStore) ClientsOf(ctx context.Context, orgID string) ([]access.Client, error) {
	return engine.ListParsed(ctx, s.db, credentialRow.client, clientsOf, orgID)
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

// client converts the row to an access.Client. It returns an error if redirect_uris is not
// a JSON array.
func (row credentialRow) client() (access.Client, error) {
	redirects, err := engine.DecodeList[string](row.RedirectURIs)
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
