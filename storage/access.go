package storage

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/audience"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// Access returns the stores of credentials, grants and the audit log.
func (db *DB) Access() access.Stores {
	return access.Stores{
		Keys: db.Keys(), Clients: db.Clients(), OpenClients: db.OpenClients(), Grants: db.Grants(), Tokens: db.Tokens(), Audit: db.Audit(),
	}
}

// orgStore is [members.OrgStore].
type orgStore struct{ db *engine.DB }

// Orgs returns the store of organizations.
func (db *DB) Orgs() members.OrgStore { return orgStore{db.DB} }

// userStore is [people.UserStore].
type userStore struct{ db *engine.DB }

// Users returns the store of people and their password hashes.
func (db *DB) Users() people.UserStore { return userStore{db.DB} }

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
}

const orgColumns = `id, name, slug, tier, retention_days, rate_limit, git_connected, require_second_factor,
	platform_mode`

var (
	insertOrg = engine.Register("insert org", `
		INSERT INTO orgs (`+orgColumns+`, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
		ON CONFLICT DO NOTHING`)
	orgByID        = engine.RegisterPoint("org by id", `SELECT `+orgColumns+` FROM orgs WHERE id = $1`)
	orgBySlug      = engine.RegisterPoint("org by slug", `SELECT `+orgColumns+` FROM orgs WHERE slug = $1`)
	orgIDs         = engine.Register("org ids", `SELECT id FROM orgs ORDER BY created_at, id`)
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
	return core.Org(row), err
}

func (s orgStore) OrgBySlug(ctx context.Context, slug string) (core.Org, error) {
	row, err := engine.One[orgRow](ctx, s.db, "organization", orgBySlug, slug)
	return core.Org(row), err
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

type userRow struct {
	ID           string      `db:"id"`
	Email        string      `db:"email"`
	Name         string      `db:"name"`
	PasswordHash string      `db:"password_hash"`
	CreatedAt    engine.Time `db:"created_at"`
}

const userColumns = `id, email, name, password_hash, created_at`

var (
	insertUser = engine.Register("insert user", `
		INSERT INTO users (id, email, email_key, name, password_hash, created_at) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT DO NOTHING`)
	userByEmail = engine.RegisterPoint("user by email", `SELECT `+userColumns+` FROM users WHERE email_key = $1`)
	userByID    = engine.RegisterPoint("user by id", `SELECT `+userColumns+` FROM users WHERE id = $1`)
	holdUser    = engine.Register("hold user", `SELECT id FROM users WHERE id = $1 /*pg FOR NO KEY UPDATE*/`)
	setPassword = engine.Register("set password", `UPDATE users SET password_hash = $1 WHERE id = $2`)
)

func (s userStore) InsertUser(ctx context.Context, u access.User) error {
	taken := core.Conflict("A user with this address exists already.", "Sign in as that user, or take another address.")
	return s.db.Insert(ctx, taken, insertUser, u.ID, u.Email, audience.EmailKey(u.Email), u.Name, u.PasswordHash, engine.At(u.CreatedAt))
}

func (s userStore) UserByEmail(ctx context.Context, email string) (access.User, error) {
	row, err := engine.One[userRow](ctx, s.db, "user", userByEmail, audience.EmailKey(email))
	if err != nil {
		return access.User{}, err
	}
	return row.user(), nil
}

func (r userRow) user() access.User {
	return access.User{ID: r.ID, Email: r.Email, Name: r.Name, PasswordHash: r.PasswordHash, CreatedAt: r.CreatedAt.Time()}
}

func (s userStore) UserByID(ctx context.Context, userID string) (access.User, error) {
	row, err := engine.One[userRow](ctx, s.db, "user", userByID, userID)
	if err != nil {
		return access.User{}, err
	}
	return row.user(), nil
}

// HoldUser locks the person's row until the transaction ends. It returns not_found if
// there is no such person. On SQLite the transaction itself excludes all others.
func (s userStore) HoldUser(ctx context.Context, userID string) error {
	found, err := engine.Values[string](ctx, s.db, holdUser, userID)
	if err == nil && len(found) == 0 {
		return core.NotFound("user")
	}
	return err
}

func (s userStore) SetPassword(ctx context.Context, userID, hash string) error {
	return s.db.Change(ctx, "user", setPassword, hash, userID)
}
