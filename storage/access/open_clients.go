package access

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// blockedRow is a row of blocked_clients: an OAuth client that the organization has
// blocked. Such a client is registered without an organization.
type blockedRow struct {
	OrgID     string      `db:"org_id"`
	ClientID  string      `db:"client_id"`
	BlockedAt engine.Time `db:"blocked_at"`
}

// unusedDynamic is the SQL condition for dynamically registered clients without a grant.
const unusedDynamic = `kind = 'dynamic' AND NOT EXISTS (SELECT 1 FROM grants AS g WHERE g.client_id = clients.client_id)`

var (
	// saveDocumentClient inserts or updates a client that a client metadata document
	// describes. It changes nothing if the client id belongs to a client that was registered
	// in another way.
	saveDocumentClient = engine.Register("save document client", `
		INSERT INTO clients (org_id, id, client_id, name, environment, scopes, redirect_uris, refresh_days,
			kind, document_read_at, created_at)
		VALUES ('', $1, $2, $3, $4, $5, $6, $7, 'document', $8, $9)
		ON CONFLICT (client_id) DO UPDATE SET name = excluded.name, scopes = excluded.scopes,
			redirect_uris = excluded.redirect_uris, document_read_at = excluded.document_read_at
		WHERE clients.kind = 'document'
		RETURNING `+clientColumns)
	// unusedDynamicClients counts dynamically registered clients without a grant. It reads
	// the partial index clients_dynamic, and for each client the index
	// grants_anywhere_by_client.
	unusedDynamicClients = engine.Register("count unused dynamic clients", `
		SELECT count(*) FROM clients WHERE `+unusedDynamic)
	// purgeDynamicClients deletes dynamically registered clients that were registered before
	// $1 and have no grant.
	purgeDynamicClients = engine.Register("purge dynamic clients", `
		DELETE FROM clients WHERE created_at < $1 AND `+unusedDynamic)

	// blockClient blocks a client for an organization. If the client is blocked already, it
	// changes nothing, which keeps the time of the first block.
	blockClient = engine.Register("block client", `
		INSERT INTO blocked_clients (org_id, client_id, blocked_at) VALUES ($1, $2, $3)
		ON CONFLICT DO NOTHING`)
	unblockClient = engine.Register("unblock client", `DELETE FROM blocked_clients WHERE org_id = $1 AND client_id = $2`)
	// clientBlocked tests whether the organization has blocked the client. It runs at each
	// use of a client, so it reads by primary key.
	clientBlocked = engine.RegisterPoint("client blocked", `
		SELECT count(*) FROM blocked_clients WHERE org_id = $1 AND client_id = $2`)
	blockedClients = engine.Register("blocked clients", `
		SELECT org_id, client_id, blocked_at FROM blocked_clients WHERE org_id = $1 ORDER BY blocked_at DESC, client_id`)
)

// SaveDocumentClient inserts or updates a client that a metadata document describes, and
// returns it as stored. An update keeps the id, the lifetime of refresh tokens, the time of
// creation and a revocation. It fails with Conflict if the client id belongs to a client
// that was registered in another way.
func (s clientStore) SaveDocumentClient(ctx context.Context, c access.Client) (access.Client, error) {
	redirects, err := engine.JSONParameter(c.RedirectURIs)
	if err != nil {
		return access.Client{}, err
	}
	rows, err := engine.List[credentialRow](ctx, s.db, saveDocumentClient, c.ID, c.ClientID, c.Name, string(c.Environment),
		joinScopes(c.Scopes), redirects, c.RefreshDays, engine.OptionalAt(c.DocumentReadAt), engine.At(c.CreatedAt))
	if err != nil {
		return access.Client{}, err
	}
	if len(rows) == 0 {
		return access.Client{}, core.Conflict("A client with this id exists already, and no document describes it.", "Use another client id.")
	}
	return rows[0].client()
}

func (s clientStore) UnusedDynamicClients(ctx context.Context) (int, error) {
	return s.count(ctx, unusedDynamicClients)
}

func (s clientStore) PurgeDynamicClients(ctx context.Context, registeredBefore time.Time) (int, error) {
	return s.db.Exec(ctx, purgeDynamicClients, engine.At(registeredBefore))
}

func (s clientStore) BlockClient(ctx context.Context, orgID, clientID string, at time.Time) error {
	_, err := s.db.Exec(ctx, blockClient, orgID, clientID, engine.At(at))
	return err
}

func (s clientStore) UnblockClient(ctx context.Context, orgID, clientID string) error {
	_, err := s.db.Exec(ctx, unblockClient, orgID, clientID)
	return err
}

func (s clientStore) IsClientBlocked(ctx context.Context, orgID, clientID string) (bool, error) {
	n, err := s.count(ctx, clientBlocked, orgID, clientID)
	return n > 0, err
}

func (s clientStore) BlockedClients(ctx context.Context, orgID string) ([]access.BlockedClient, error) {
	return engine.ListAs(ctx, s.db, blockedRow.blockedClient, blockedClients, orgID)
}

// blockedClient converts the row to an access.BlockedClient.
func (r blockedRow) blockedClient() access.BlockedClient {
	return access.BlockedClient{OrgID: r.OrgID, ClientID: r.ClientID, BlockedAt: r.BlockedAt.Time()}
}

// count returns the number that the statement selects, or 0 without a row.
func (s clientStore) count(ctx context.Context, statement *engine.Statement, args ...any) (int, error) {
	counts, err := engine.Values[int](ctx, s.db, statement, args...)
	if err != nil || len(counts) == 0 {
		return 0, err
	}
	return counts[0], nil
}
