package members

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// orgStore is [members.OrgStore].
type orgStore struct{ db *engine.DB }

// orgRow is a row of orgs. RateLimit is the allowed number of API calls per minute; nil means no limit.
type orgRow struct {
	ID            string `db:"id"`
	Name          string `db:"name"`
	Slug          string `db:"slug"`
	Tier          string `db:"tier"`
	RetentionDays int    `db:"retention_days"`
	RateLimit     *int   `db:"rate_limit"`
	GitConnected  bool   `db:"git_connected"`

	RequireSecondFactor bool `db:"require_second_factor"`
	PlatformMode        bool `db:"platform_mode"`

	ReplayDays int          `db:"replay_days"`
	DeletedAt  *engine.Time `db:"deleted_at"`
}

func (r orgRow) org() core.Org {
	return core.Org{
		ID: r.ID, Name: r.Name, Slug: r.Slug, Tier: r.Tier, RetentionDays: r.RetentionDays, RateLimit: r.RateLimit, GitConnected: r.GitConnected,
		RequireSecondFactor: r.RequireSecondFactor, PlatformMode: r.PlatformMode, ReplayDays: r.ReplayDays, DeletedAt: engine.OptionalTime(r.DeletedAt),
	}
}

const (
	// insertedColumns lists the columns in the order of the parameters of insertOrg.
	insertedColumns = `id, name, slug, tier, retention_days, rate_limit, git_connected, require_second_factor, platform_mode`
	// orgColumns lists the columns of an orgRow. The period of results of calls is read with
	// the organization, so that a call needs no statement for it.
	orgColumns = insertedColumns + `, deleted_at,
		coalesce((SELECT r.days FROM retention AS r WHERE r.org_id = orgs.id AND r.kind = 'replay'), 0) AS replay_days`
)

var (
	// insertOrg inserts an organization. It changes nothing if an organization with the id
	// or the slug exists.
	insertOrg = engine.Register("insert org", `
		INSERT INTO orgs (`+insertedColumns+`, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
		ON CONFLICT DO NOTHING`)
	orgByID   = engine.RegisterPoint("org by id", `SELECT `+orgColumns+` FROM orgs WHERE id = $1`)
	orgBySlug = engine.RegisterPoint("org by slug", `SELECT `+orgColumns+` FROM orgs WHERE slug = $1`)
	// orgIDs selects all organizations except deleted ones, oldest first, for periodic jobs.
	orgIDs = engine.Register("org ids", `SELECT id FROM orgs WHERE deleted_at IS NULL ORDER BY created_at, id`)
	// setOrgSettings changes the name, the requirement of a second factor and the platform
	// mode. In platform mode, temporary inboxes are counted separately for each account of
	// the organization's customers.
	setOrgSettings = engine.Register("set org settings", `
		UPDATE orgs SET name = $1, require_second_factor = $2, platform_mode = $3 WHERE id = $4`)
	setRateLimit = engine.Register("set rate limit", `UPDATE orgs SET rate_limit = $1 WHERE id = $2`)
)

func (s orgStore) InsertOrg(ctx context.Context, org core.Org) error {
	taken := core.Conflict("An organization with this id or slug exists already.", "Choose another slug.")
	return s.db.Insert(ctx, taken, insertOrg, org.ID, org.Name, org.Slug, org.Tier, org.RetentionDays,
		org.RateLimit, org.GitConnected, org.RequireSecondFactor, org.PlatformMode, engine.At(s.db.Now()))
}

func (s orgStore) Org(ctx context.Context, orgID string) (core.Org, error) {
	row, err := engine.One[orgRow](ctx, s.db, "organization", orgByID, orgID)
	return row.org(), err
}

func (s orgStore) OrgBySlug(ctx context.Context, slug string) (core.Org, error) {
	row, err := engine.One[orgRow](ctx, s.db, "organization", orgBySlug, slug)
	return row.org(), err
}

func (s orgStore) OrgIDs(ctx context.Context) ([]string, error) {
	return engine.Values[string](ctx, s.db, orgIDs)
}

func (s orgStore) SetRateLimit(ctx context.Context, orgID string, perMinute *int) error {
	return s.db.Change(ctx, "organization", setRateLimit, perMinute, orgID)
}

func (s orgStore) SetOrgSettings(ctx context.Context, org core.Org) error {
	return s.db.Change(ctx, "organization", setOrgSettings, org.Name, org.RequireSecondFactor, org.PlatformMode, org.ID)
}
