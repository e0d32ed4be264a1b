package access

import (
	"context"
	"fmt"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// grantStore implements [access.GrantStore] and [access.TokenStore]. The methods for
// authorization codes, refresh tokens and the denylist are in separate files.
type grantStore struct{ db *engine.DB }

// grantRow is a row of grants. Resource is "api" or "agent", the host that accepts the
// grant's tokens. Scopes is one string, separated by spaces.
type grantRow struct {
	ID        string       `db:"id"`
	OrgID     string       `db:"org_id"`
	UserID    string       `db:"user_id"`
	ClientID  string       `db:"client_id"`
	Resource  string       `db:"resource"`
	Scopes    string       `db:"scopes"`
	CreatedAt engine.Time  `db:"created_at"`
	ExpiresAt *engine.Time `db:"expires_at"`
	RevokedAt *engine.Time `db:"revoked_at"`
}

const grantColumns = `org_id, id, user_id, client_id, resource, scopes, created_at, expires_at, revoked_at`

var (
	insertGrant = engine.Register("insert grant", `
		INSERT INTO grants (`+grantColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
		ON CONFLICT DO NOTHING`)
	grantByID = engine.RegisterPoint("grant by id", `SELECT `+grantColumns+` FROM grants WHERE org_id = $1 AND id = $2`)
	newGrants = engine.Register("grants, newest first", `
		SELECT `+grantColumns+` FROM grants
		WHERE org_id = $1 AND revoked_at IS NULL AND (CAST($2 AS text) = '' OR user_id = $2) AND user_id <> $3
			AND (CAST($4 AS text) = '' OR client_id = $4) AND (CAST($5 AS text) = '' OR resource = $5)
		ORDER BY created_at DESC, id DESC LIMIT $6`)
	revokeGrant = engine.Register("revoke grant", `
		UPDATE grants SET revoked_at = coalesce(revoked_at, $1) WHERE org_id = $2 AND id = $3`)
	revokeGrantsOf = engine.Register("revoke grants of a client", `
		UPDATE grants SET revoked_at = $1 WHERE org_id = $2 AND client_id = $3 AND revoked_at IS NULL
		RETURNING id`)
	revokeGrantsOfUser = engine.Register("revoke grants of a user", `
		UPDATE grants SET revoked_at = $1 WHERE org_id = $2 AND user_id = $3 AND revoked_at IS NULL
		RETURNING id`)
)

func (s grantStore) InsertGrant(ctx context.Context, g access.Grant) error {
	resource, err := resourceName(g.Resource)
	if err != nil {
		return err
	}
	taken := core.Conflict("A grant with this id exists already.", "Mint another id.")
	return s.db.Insert(ctx, taken, insertGrant, g.OrgID, g.ID, g.UserID, g.ClientID, resource,
		joinScopes(g.Scopes), engine.At(g.CreatedAt), engine.OptionalAt(g.ExpiresAt), engine.OptionalAt(g.RevokedAt))
}

func (s grantStore) Grant(ctx context.Context, orgID, id string) (access.Grant, error) {
	row, err := engine.One[grantRow](ctx, s.db, "grant", grantByID, orgID, id)
	if err != nil {
		return access.Grant{}, err
	}
	return row.grant()
}

func (s grantStore) Grants(ctx context.Context, orgID string, f access.GrantFilter) ([]access.Grant, error) {
	resource := "" // all
	if f.AtAgent {
		resource = storedAgent
	}
	return engine.ListParsed(ctx, s.db, grantRow.grant, newGrants, orgID, f.UserID, f.ExceptUserID, f.ClientID, resource, f.Limit)
}

func (s grantStore) RevokeGrant(ctx context.Context, orgID, id string, at time.Time) error {
	return s.db.Change(ctx, "grant", revokeGrant, engine.At(at), orgID, id)
}

func (s grantStore) RevokeGrantsOf(ctx context.Context, orgID, clientID string, at time.Time) ([]string, error) {
	return engine.Values[string](ctx, s.db, revokeGrantsOf, engine.At(at), orgID, clientID)
}

func (s grantStore) RevokeGrantsOfUser(ctx context.Context, orgID, userID string, at time.Time) ([]string, error) {
	return engine.Values[string](ctx, s.db, revokeGrantsOfUser, engine.At(at), orgID, userID)
}

// grant converts the row to an access.Grant. It returns an error if the resource name is
// unknown.
func (r grantRow) grant() (access.Grant, error) {
	resource, err := resourceOf(r.Resource)
	if err != nil {
		return access.Grant{}, fmt.Errorf("storage: grant %s: %w", r.ID, err)
	}
	return access.Grant{
		ID: r.ID, OrgID: r.OrgID, UserID: r.UserID, ClientID: r.ClientID, Resource: resource, Scopes: splitScopes(r.Scopes),
		CreatedAt: r.CreatedAt.Time(), ExpiresAt: engine.OptionalTime(r.ExpiresAt), RevokedAt: engine.OptionalTime(r.RevokedAt),
	}, nil
}

// The stored names of the two resources, the hosts that accept access tokens. The table has
// these names instead of numbers, so the numeric values of [access.API] and [access.Agent]
// may change.
const (
	storedAPI   = "api"
	storedAgent = "agent"
)

// resourceName returns the stored name of a resource, which is the API or the agent
// endpoint. It returns an error for an unknown resource.
func resourceName(r access.Resource) (string, error) {
	switch r {
	case access.API:
		return storedAPI, nil
	case access.Agent:
		return storedAgent, nil
	}
	return "", fmt.Errorf("storage: no resource is numbered %d", r)
}

// resourceOf returns the resource with the stored name. It returns an error for an unknown
// name, so that a grant for a removed resource never becomes valid for another resource.
func resourceOf(stored string) (access.Resource, error) {
	switch stored {
	case storedAPI:
		return access.API, nil
	case storedAgent:
		return access.Agent, nil
	}
	return 0, fmt.Errorf("no resource is named %q", stored)
}
