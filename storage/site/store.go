// Package site is the storage of core/site: site keys and counts of beacons.
package site

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/site"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// keyRow is a site key of one organization.
type keyRow struct {
	Key       string       `db:"key"`
	CreatedAt engine.Time  `db:"created_at"`
	ExpiresAt *engine.Time `db:"expires_at"`
}

// ownedRow is a site key of any organization.
type ownedRow struct {
	OrgID     string       `db:"org_id"`
	Hash      []byte       `db:"hash"`
	ExpiresAt *engine.Time `db:"expires_at"`
	Off       bool         `db:"off"`
}

// countRow is a sum of counts.
type countRow struct {
	Outcome string      `db:"outcome"`
	Name    string      `db:"name"`
	Beacons int64       `db:"beacons"`
	LastAt  engine.Time `db:"last_at"`
}

var (
	validKeys = engine.Register("valid site keys", `
		SELECT key, created_at, expires_at FROM site_keys
		WHERE org_id = $1 AND (expires_at IS NULL OR expires_at > CAST($2 AS bigint))
		ORDER BY CASE WHEN expires_at IS NULL THEN 0 ELSE 1 END, expires_at DESC, key`)
	insertKey = engine.Register("insert site key", `
		INSERT INTO site_keys (org_id, key, hash, created_at) VALUES ($1, $2, $3, $4)
		ON CONFLICT DO NOTHING`)
	// expireKey changes nothing if another transaction has expired the key.
	expireKey = engine.Register("expire site key", `
		UPDATE site_keys SET expires_at = $1 WHERE org_id = $2 AND key = $3 AND expires_at IS NULL`)
	deleteExpired = engine.Register("delete expired site keys", `DELETE FROM site_keys WHERE org_id = $1 AND expires_at <= $2`)
	siteOff       = engine.RegisterPoint("site off", `SELECT org_id FROM sites_off WHERE org_id = $1`)
	turnOff       = engine.Register("turn site off", `INSERT INTO sites_off (org_id, turned_off_at) VALUES ($1, $2) ON CONFLICT DO NOTHING`)
	turnOn        = engine.Register("turn site on", `DELETE FROM sites_off WHERE org_id = $1`)
	siteCounts    = engine.Register("site counts", `
		SELECT outcome, name, CAST(sum(beacons) AS bigint) AS beacons, max(last_at) AS last_at
		FROM site_counts WHERE org_id = $1 AND day >= $2 GROUP BY outcome, name ORDER BY outcome, beacons DESC, name`)

	allKeys = engine.Register("site keys of all organizations", `
		SELECT k.org_id, k.hash, k.expires_at, CASE WHEN o.org_id IS NULL THEN FALSE ELSE TRUE END AS off
		FROM site_keys AS k LEFT JOIN sites_off AS o ON o.org_id = k.org_id
		WHERE (k.expires_at IS NULL OR k.expires_at > CAST($1 AS bigint)) AND `+engine.NotDeleted("k.org_id"))
	// addCounts needs its rows in the order of the primary key, so that concurrent additions
	// lock rows in the same order.
	addCounts = engine.Register("add site counts", `
		INSERT INTO site_counts (org_id, day, outcome, name, beacons, last_at)
		SELECT v ->> 'org', CAST(v ->> 'day' AS bigint), v ->> 'outcome', v ->> 'name', CAST(v ->> 'beacons' AS bigint), CAST(v ->> 'last' AS bigint)
		FROM `+engine.ParameterRows(`$1`)+` WHERE TRUE ORDER BY 1, 2, 3, 4
		ON CONFLICT (org_id, day, outcome, name) DO UPDATE SET beacons = site_counts.beacons + excluded.beacons,
			last_at = CASE WHEN excluded.last_at > site_counts.last_at THEN excluded.last_at ELSE site_counts.last_at END`)
	purgeCounts = engine.Register("purge site counts", `DELETE FROM site_counts WHERE day < $1`)
)

// Store stores site keys and counts of beacons.
type Store struct{ db *engine.DB }

var _ site.Store = Store{}

// New returns the store on the database.
func New(db *engine.DB) Store { return Store{db} }

func (s Store) SiteKeys(ctx context.Context, orgID string, now time.Time) ([]site.Key, error) {
	return engine.ListAs(ctx, s.db, func(row keyRow) site.Key {
		return site.Key{Value: row.Key, CreatedAt: row.CreatedAt.Time(), ExpiresAt: engine.OptionalTime(row.ExpiresAt)}
	}, validKeys, orgID, engine.At(now))
}

func (s Store) InsertSiteKey(ctx context.Context, orgID string, k site.Key) error {
	hash := site.HashOf(k.Value)
	taken := core.Conflict("The organization has a site key already.", "Use it, or rotate it.")
	return s.db.Insert(ctx, taken, insertKey, orgID, k.Value, hash[:], engine.At(k.CreatedAt))
}

func (s Store) ExpireSiteKey(ctx context.Context, orgID, key string, at time.Time) error {
	return s.db.Change(ctx, "site key", expireKey, engine.At(at), orgID, key)
}

func (s Store) DeleteExpiredSiteKeys(ctx context.Context, orgID string, now time.Time) error {
	_, err := s.db.Exec(ctx, deleteExpired, orgID, engine.At(now))
	return err
}

func (s Store) SiteOff(ctx context.Context, orgID string) (bool, error) {
	found, err := engine.Values[string](ctx, s.db, siteOff, orgID)
	return len(found) > 0, err
}

func (s Store) TurnSiteOff(ctx context.Context, orgID string, at time.Time) error {
	_, err := s.db.Exec(ctx, turnOff, orgID, engine.At(at))
	return err
}

func (s Store) TurnSiteOn(ctx context.Context, orgID string) error {
	_, err := s.db.Exec(ctx, turnOn, orgID)
	return err
}

func (s Store) SiteCounts(ctx context.Context, orgID string, since time.Time) ([]site.Count, error) {
	return engine.ListAs(ctx, s.db, func(row countRow) site.Count {
		return site.Count{Outcome: site.Outcome(row.Outcome), Name: row.Name, Beacons: row.Beacons, LastAt: row.LastAt.Time()}
	}, siteCounts, orgID, dayNumber(since))
}

func (s Store) AllSiteKeys(ctx context.Context, now time.Time) ([]site.OwnedKey, error) {
	rows, err := engine.List[ownedRow](ctx, s.db, allKeys, engine.At(now))
	if err != nil {
		return nil, err
	}
	keys := make([]site.OwnedKey, len(rows))
	for i, row := range rows {
		keys[i] = site.OwnedKey{OrgID: row.OrgID, Off: row.Off}
		copy(keys[i].Hash[:], row.Hash)
		if row.ExpiresAt != nil {
			keys[i].ExpiresAt = row.ExpiresAt.Time()
		}
	}
	return keys, nil
}

// addedCount is an element of the JSON parameter of addCounts.
type addedCount struct {
	Org     string      `json:"org"`
	Day     int64       `json:"day"`
	Outcome string      `json:"outcome"`
	Name    string      `json:"name"`
	Beacons int64       `json:"beacons"`
	Last    engine.Time `json:"last"`
}

func (s Store) AddSiteCounts(ctx context.Context, counts []site.DayCount) error {
	rows := make([]addedCount, len(counts))
	for i, c := range counts {
		rows[i] = addedCount{c.OrgID, dayNumber(c.Day), string(c.Outcome), c.Name, c.Beacons, engine.At(c.LastAt)}
	}
	parameter, err := engine.JSONParameter(rows)
	if err != nil {
		return err
	}
	_, err = s.db.Exec(ctx, addCounts, parameter)
	return err
}

func (s Store) PurgeSiteCounts(ctx context.Context, before time.Time) error {
	_, err := s.db.Exec(ctx, purgeCounts, dayNumber(before))
	return err
}

// dayNumber returns the UTC day of a time, in days since 1970-01-01.
func dayNumber(at time.Time) int64 { return at.Unix() / (24 * 60 * 60) }
