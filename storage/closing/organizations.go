package closing

import (
	"context"
	"fmt"
	"time"

	"github.com/mailhelm/mailhelm/core/closing"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// orgStore is [closing.OrgStore].
type orgStore struct{ db *engine.DB }

// NewOrgStore returns the store that deletes, restores and erases organizations.
func NewOrgStore(db *engine.DB) closing.OrgStore { return orgStore{db} }

var (
	setDeleted = engine.Register("set org deleted", `UPDATE orgs SET deleted_at = $1 WHERE id = $2`)
	// beginErasing changes no row of an organization that was restored, or that was deleted
	// again later.
	beginErasing = engine.Register("begin erasing org", `
		UPDATE orgs SET erasing_at = coalesce(erasing_at, CAST($1 AS bigint)) WHERE id = $2 AND deleted_at <= $3`)
	isErasing   = engine.Register("org is being erased", `SELECT erasing_at IS NOT NULL AS erasing FROM orgs WHERE id = $1`)
	deletedOrgs = engine.Register("deleted orgs", `SELECT id FROM orgs WHERE deleted_at <= $1 ORDER BY deleted_at, id`)
	eraseOrg    = engine.Register("erase org", `DELETE FROM orgs WHERE id = $1 AND erasing_at IS NOT NULL`)
	// eraseJobs leaves running jobs, because River changes their rows when they end. The next
	// pass finds them.
	eraseJobs = engine.Register("erase jobs of an organization", `DELETE FROM river_job WHERE args ->> 'org_id' = $1 AND state <> 'running'`)

	routingVersion = engine.Register("version of routing for a deleted org", `
		INSERT INTO receiving_routing (id, version) VALUES (1, 1) ON CONFLICT (id) DO UPDATE SET version = receiving_routing.version + 1 RETURNING version`)
	hasRoutes      = engine.Register("org has routes", `SELECT count(*) FROM receiving_routes WHERE org_id = $1`)
	withdrawRoutes = engine.Register("withdraw routes", `
		UPDATE receiving_routes SET removed_at = $1, version = $2 WHERE org_id = $3 AND removed_at IS NULL`)
	restoreRoutes = engine.Register("restore routes", `
		UPDATE receiving_routes SET removed_at = NULL, version = $1 WHERE org_id = $2 AND removed_at = $3`)
)

func (s orgStore) SetDeleted(ctx context.Context, orgID string, at *time.Time) error {
	return s.db.Change(ctx, "organization", setDeleted, engine.OptionalAt(at), orgID)
}

// withdrawn is the time of removal of a withdrawn route. It is so long ago that receivers
// refuse mail at once; they accept and discard mail for a domain that was removed lately.
var withdrawn = engine.At(time.UnixMicro(1))

func (s orgStore) WithdrawRoutes(ctx context.Context, orgID string) error {
	version, found, err := s.nextVersion(ctx, orgID)
	if err != nil || !found {
		return err
	}
	_, err = s.db.Exec(ctx, withdrawRoutes, withdrawn, version, orgID)
	return err
}

func (s orgStore) RestoreRoutes(ctx context.Context, orgID string) error {
	version, found, err := s.nextVersion(ctx, orgID)
	if err != nil || !found {
		return err
	}
	_, err = s.db.Exec(ctx, restoreRoutes, version, orgID, withdrawn)
	return err
}

// nextVersion returns the version of a change of the organization's routes. It returns false,
// and takes no version, for an organization without routes.
func (s orgStore) nextVersion(ctx context.Context, orgID string) (int, bool, error) {
	routes, err := engine.Values[int](ctx, s.db, hasRoutes, orgID)
	if err != nil || routes[0] == 0 {
		return 0, false, err
	}
	version, err := engine.Values[int](ctx, s.db, routingVersion)
	if err != nil {
		return 0, false, err
	}
	return version[0], true, nil
}

func (s orgStore) BeginErasing(ctx context.Context, orgID string, before, now time.Time) (bool, error) {
	n, err := s.db.Exec(ctx, beginErasing, engine.At(now), orgID, engine.At(before))
	return n > 0, err
}

func (s orgStore) IsErasing(ctx context.Context, orgID string) (bool, error) {
	found, err := engine.Values[bool](ctx, s.db, isErasing, orgID)
	return len(found) > 0 && found[0], err
}

func (s orgStore) DeletedOrgs(ctx context.Context, before time.Time) ([]string, error) {
	return engine.Values[string](ctx, s.db, deletedOrgs, engine.At(before))
}

func (orgStore) Tables() []string {
	names := make([]string, len(orgTables))
	for i, table := range orgTables {
		names[i] = table.name
	}
	return names
}

func (s orgStore) CountRows(ctx context.Context, orgID string) ([]closing.TableRows, error) {
	rows := make([]closing.TableRows, len(orgTables))
	for i, table := range orgTables {
		n, err := engine.Values[int](ctx, s.db, table.count, orgID)
		if err != nil {
			return nil, err
		}
		rows[i] = closing.TableRows{Table: table.name, Rows: n[0]}
	}
	return rows, nil
}

func (s orgStore) EraseRows(ctx context.Context, table, orgID string, limit int) (int, error) {
	for _, t := range orgTables {
		if t.name == table {
			return s.db.Exec(ctx, t.erase, orgID, limit)
		}
	}
	return 0, fmt.Errorf("storage: the table %q has no rows of organizations", table)
}

func (s orgStore) EraseJobs(ctx context.Context, orgID string) (int, error) {
	return s.db.Exec(ctx, eraseJobs, orgID)
}

func (s orgStore) EraseOrg(ctx context.Context, orgID string) error {
	return s.db.Change(ctx, "organization", eraseOrg, orgID)
}
