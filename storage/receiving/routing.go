package receiving

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/mailhelm/mailhelm/core/receiving"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// RoutingStore stores what is published of receiving domains.
type RoutingStore struct{ db *engine.DB }

var _ receiving.RoutingStore = RoutingStore{}

// NewRouting returns the store of the routing on the database.
func NewRouting(db *engine.DB) RoutingStore { return RoutingStore{db} }

const changeColumns = `org_id, id, domain, revision, deleted_at IS NOT NULL AS deleted, status, webhook_url, patterns, spam_posture, virus_posture`

var (
	changedDomains = engine.Register("changed receiving domains", `
		SELECT org_id, id FROM receiving_domains WHERE publish_at <= $1 AND `+engine.NotDeleted("org_id")+` ORDER BY publish_at, id LIMIT $2`)
	changeOfDomain = engine.RegisterPoint("change of receiving domain", `
		SELECT `+changeColumns+` FROM receiving_domains WHERE org_id = $1 AND id = $2 AND publish_at IS NOT NULL`)
	// lockChange locks the domain on PostgreSQL, so that one process at a time publishes it.
	lockChange = engine.Register("lock change of receiving domain", `
		SELECT revision FROM receiving_domains WHERE org_id = $1 AND id = $2 AND publish_at IS NOT NULL /*pg FOR UPDATE*/`)
	putOffChange = engine.Register("put off change of receiving domain", `
		UPDATE receiving_domains SET publish_at = $1 WHERE org_id = $2 AND id = $3 AND revision = $4 AND publish_at IS NOT NULL`)
	// nextRoutingVersion locks the row until the transaction ends, so versions are committed in
	// their order and no reader misses one.
	nextRoutingVersion = engine.Register("next version of routing", `
		INSERT INTO receiving_routing (id, version) VALUES (1, 1) ON CONFLICT (id) DO UPDATE SET version = receiving_routing.version + 1 RETURNING version`)
	putRoute = engine.Register("put route", `
		INSERT INTO receiving_routes (org_id, domain, domain_id, document, version) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (domain) DO UPDATE SET org_id = EXCLUDED.org_id, domain_id = EXCLUDED.domain_id, document = EXCLUDED.document,
			removed_at = NULL, version = EXCLUDED.version`)
	removeRoute = engine.Register("remove route", `
		UPDATE receiving_routes SET removed_at = $1, document = '{"routed":false}', version = $2 WHERE org_id = $3 AND domain_id = $4`)
	publishAddresses = engine.Register("publish addresses", `
		UPDATE receiving_addresses SET published = TRUE WHERE org_id = $1 AND domain_id = $2 AND NOT published AND deleted_at IS NULL`)
	removeAddresses = engine.Register("remove deleted addresses", `
		DELETE FROM receiving_addresses WHERE org_id = $1 AND domain_id = $2 AND deleted_at IS NOT NULL`)
	// markPublished leaves the state of a webhook whose domain is not verified.
	markPublished = engine.Register("mark receiving domain published", `
		UPDATE receiving_domains SET publish_at = NULL, webhook_status = COALESCE(CAST($1 AS text), webhook_status), webhook_error = $2,
			published_at = COALESCE($3, published_at)
		WHERE org_id = $4 AND id = $5`)
	routesSince = engine.Register("routes since a version", `
		SELECT domain, org_id, domain_id, removed_at, version FROM receiving_routes WHERE version > $1 ORDER BY version`)
	forgetRoutes = engine.Register("forget routes", `
		DELETE FROM receiving_routes WHERE org_id = $1 AND removed_at < $2`)
	forgetDomains = engine.Register("forget deleted receiving domains", `
		DELETE FROM receiving_domains WHERE org_id = $1 AND deleted_at < $2 AND publish_at IS NULL`)
)

func (s RoutingStore) Changed(ctx context.Context, now time.Time, limit int) ([]receiving.Target, error) {
	return targets(ctx, s.db, changedDomains, engine.At(now), limit)
}

// targets returns the domains that a statement selects.
func targets(ctx context.Context, db *engine.DB, s *engine.Statement, args ...any) ([]receiving.Target, error) {
	type row struct {
		OrgID string `db:"org_id"`
		ID    string `db:"id"`
	}
	return engine.ListAs(ctx, db, func(r row) receiving.Target { return receiving.Target{OrgID: r.OrgID, DomainID: r.ID} }, s, args...)
}

// changeRow is what is to be published of a domain.
type changeRow struct {
	OrgID    string            `db:"org_id"`
	ID       string            `db:"id"`
	Domain   string            `db:"domain"`
	Revision int               `db:"revision"`
	Deleted  bool              `db:"deleted"`
	Status   receiving.Status  `db:"status"`
	URL      string            `db:"webhook_url"`
	Patterns string            `db:"patterns"`
	Spam     receiving.Posture `db:"spam_posture"`
	Virus    receiving.Posture `db:"virus_posture"`
}

func (r changeRow) change() (receiving.Change, error) {
	c := receiving.Change{
		Target: receiving.Target{OrgID: r.OrgID, DomainID: r.ID}, Name: r.Domain, Revision: r.Revision, Deleted: r.Deleted,
		Verified: r.Status == receiving.Verified, URL: r.URL,
	}
	if r.URL == "" {
		return c, nil
	}
	patterns, err := engine.DecodeTexts(r.Patterns)
	c.Document = receiving.Document{Routed: true, Patterns: patterns, Spam: r.Spam, Virus: r.Virus}
	return c, err
}

func (s RoutingStore) Change(ctx context.Context, t receiving.Target) (receiving.Change, bool, error) {
	found, err := engine.ListParsed(ctx, s.db, changeRow.change, changeOfDomain, t.OrgID, t.DomainID)
	return first(found), len(found) > 0, err
}

func (s RoutingStore) Publish(ctx context.Context, p receiving.Publication) error {
	return s.db.InTx(ctx, func(ctx context.Context) error {
		current, err := engine.Values[int](ctx, s.db, lockChange, p.OrgID, p.DomainID)
		if err != nil || len(current) == 0 || current[0] != p.Revision {
			return err
		}
		var status any // nil leaves it
		var at *time.Time
		if p.Deleted || p.Verified {
			if err := s.write(ctx, p); err != nil {
				return err
			}
			status, at = string(statusOf(p)), &p.At
		}
		_, err = s.db.Exec(ctx, markPublished, status, p.Fault, engine.OptionalAt(at), p.OrgID, p.DomainID)
		return err
	})
}

// statusOf returns the state of the webhook after a publication.
func statusOf(p receiving.Publication) receiving.WebhookStatus {
	switch {
	case p.URL == "":
		return receiving.Unset
	case p.Fault != "":
		return receiving.Invalid
	}
	return receiving.Published
}

// write writes the route and the addresses of a domain.
func (s RoutingStore) write(ctx context.Context, p receiving.Publication) error {
	version, err := engine.Values[int](ctx, s.db, nextRoutingVersion)
	if err != nil {
		return err
	}
	if p.Deleted {
		_, err := s.db.Exec(ctx, removeRoute, engine.At(p.At), version[0], p.OrgID, p.DomainID)
		return err
	}
	document, err := json.Marshal(p.Document)
	if err != nil {
		return fmt.Errorf("storage: routing: %w", err)
	}
	if _, err := s.db.Exec(ctx, putRoute, p.OrgID, p.Name, p.DomainID, string(document), version[0]); err != nil {
		return err
	}
	if _, err := s.db.Exec(ctx, removeAddresses, p.OrgID, p.DomainID); err != nil {
		return err
	}
	_, err = s.db.Exec(ctx, publishAddresses, p.OrgID, p.DomainID)
	return err
}

func (s RoutingStore) PutOff(ctx context.Context, c receiving.Change, until time.Time) error {
	_, err := s.db.Exec(ctx, putOffChange, engine.At(until), c.OrgID, c.DomainID, c.Revision)
	return err
}

func (s RoutingStore) Since(ctx context.Context, version int) ([]receiving.RouteEntry, error) {
	type row struct {
		Domain    string       `db:"domain"`
		OrgID     string       `db:"org_id"`
		DomainID  string       `db:"domain_id"`
		RemovedAt *engine.Time `db:"removed_at"`
		Version   int          `db:"version"`
	}
	return engine.ListAs(ctx, s.db, func(r row) receiving.RouteEntry {
		return receiving.RouteEntry{Target: receiving.Target{OrgID: r.OrgID, DomainID: r.DomainID}, Name: r.Domain, RemovedAt: engine.OptionalTime(r.RemovedAt), Version: r.Version}
	}, routesSince, version)
}

func (s RoutingStore) Forget(ctx context.Context, orgID string, before time.Time) error {
	if _, err := s.db.Exec(ctx, forgetRoutes, orgID, engine.At(before)); err != nil {
		return err
	}
	_, err := s.db.Exec(ctx, forgetDomains, orgID, engine.At(before))
	return err
}
