package orgmove

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	mailhelm "github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	core "github.com/mailhelm/mailhelm/core/orgmove"
	"github.com/mailhelm/mailhelm/core/privacy"
	"github.com/mailhelm/mailhelm/core/signing"
	"github.com/mailhelm/mailhelm/storage/closing"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// Target is [core.Target]. It imports one organization.
//
// Until Finish, the organization is one that is being erased: decision 125 says what is refused and
// left out. Its slug is importing-ID, and its name a token of the import, so that an import that was
// interrupted, and then repeated, cannot store rows any more. The job that erases deleted
// organizations removes what is left of an import after a week.
type Target struct {
	db     *engine.DB
	master signing.MasterKey
	now    func() time.Time
	// record adds a line to the audit log, with the last step.
	record func(ctx context.Context, orgID string) error
	// noPassword is the hash of a random password that is stored nowhere, for people who are new here.
	noPassword string

	arrival core.Arrival
	token   string
	kinds   map[string][]kind
	// storing gets the error of the rows that are being stored while the next ones are read; nil if
	// none are.
	storing chan error
	// users has the ids of people in this installation that have others in the archive.
	users map[string]string
}

var _ core.Target = (*Target)(nil)

// NewTarget returns a target for one import into db. master seals values. noPassword is the hash of
// a random password that is stored nowhere: people who are new in this installation get it. record
// adds a line to the audit log of the organization, in the transaction of its context.
func NewTarget(db *engine.DB, master signing.MasterKey, noPassword string, record func(ctx context.Context, orgID string) error) *Target {
	return &Target{db: db, master: master, noPassword: noPassword, record: record, now: db.Now, kinds: map[string][]kind{}}
}

var (
	movedOrg  = engine.Register("organization that is imported", `SELECT slug, erasing_at IS NOT NULL AS erasing FROM orgs WHERE id = $1 /*pg FOR UPDATE*/`)
	slugTaken = engine.Register("slug of an imported organization is taken", `SELECT count(*) FROM orgs WHERE slug = $1`)
	hideOrg   = engine.Register("begin import of organization", `
		INSERT INTO orgs (id, name, slug, tier, retention_days, rate_limit, git_connected, require_second_factor, platform_mode, created_at, deleted_at, erasing_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
		ON CONFLICT (id) DO UPDATE SET name = excluded.name, deleted_at = excluded.deleted_at, erasing_at = excluded.erasing_at`)
	holdImport = engine.Register("hold import of organization", `SELECT count(*) FROM (SELECT 1 AS n FROM orgs WHERE id = $1 AND name = $2 AND erasing_at IS NOT NULL /*pg FOR SHARE*/) AS held`)
	showOrg    = engine.Register("finish import of organization", `
		UPDATE orgs SET name = $1, slug = $2, tier = $3, retention_days = $4, rate_limit = $5, git_connected = $6, require_second_factor = $7,
			platform_mode = $8, created_at = $9, deleted_at = NULL, erasing_at = NULL WHERE id = $10`)
	// stopCopy stops all mail of an organization that goes on elsewhere.
	stopCopy      = engine.Register("stop mail of an imported copy", `INSERT INTO handover_stops (org_id, stopped_at, stopped_by) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`)
	keepFormerKey = engine.Register("store former key of erased addresses of an organization", `
		INSERT INTO erased_address_keys (org_id, key_id, sealed) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`)
	userKnown = engine.Register("person of an imported organization", `SELECT id FROM users WHERE email_key = $1`)
	idKnown   = engine.Register("id of a person of an imported organization", `SELECT id FROM users WHERE id = $1`)
	addUser   = engine.Register("store person of an imported organization", `
		INSERT INTO users (id, email, email_key, name, password_hash, created_at) VALUES ($1, $2, $3, $4, $5, $6)`)
	addMember = engine.Register("store member of an organization", `
		INSERT INTO members (org_id, user_id, role, permissions, created_at) VALUES ($1, $2, $3, $4, $5)`)
)

// Schema implements [core.Target].
func (t *Target) Schema(ctx context.Context) (int64, error) { return t.db.SchemaVersion(ctx), nil }

// Tables implements [core.Target].
func (*Target) Tables() []core.Table { return Tables() }

// hiddenSlug is the slug of an organization while it is imported.
func hiddenSlug(orgID string) string { return "importing-" + orgID }

// Begin implements [core.Target].
func (t *Target) Begin(ctx context.Context, a core.Arrival) error {
	t.arrival, t.token = a, "import "+mailhelm.NewID()
	err := t.db.InTx(ctx, func(ctx context.Context) error {
		found, err := engine.List[struct {
			Slug    string `db:"slug"`
			Erasing bool   `db:"erasing"`
		}](ctx, t.db, movedOrg, a.Org.ID)
		if err != nil {
			return err
		}
		if len(found) > 0 && (!found[0].Erasing || found[0].Slug != hiddenSlug(a.Org.ID)) {
			return mailhelm.Conflict("This installation has the organization already, as "+found[0].Slug+".",
				"An organization is imported once. If it was deleted here, wait until its data is erased, or restore it with 'mailhelm admin org restore "+found[0].Slug+"'.")
		}
		taken, err := engine.Values[int](ctx, t.db, slugTaken, a.Slug)
		if err != nil {
			return err
		}
		if taken[0] > 0 {
			return slugConflict(a.Slug)
		}
		if err := t.people(ctx); err != nil {
			return err
		}
		now := engine.At(t.now())
		_, err = t.db.Exec(ctx, hideOrg, a.Org.ID, t.token, hiddenSlug(a.Org.ID), a.Org.Tier, a.Org.RetentionDays, a.Org.RateLimit,
			a.Org.GitConnected, a.Org.RequireSecondFactor, a.Org.PlatformMode, a.Org.CreatedAt, now, now)
		return err
	})
	if err != nil {
		return err
	}
	return t.clear(ctx)
}

func slugConflict(slug string) error {
	return mailhelm.Conflict("Another organization has the slug "+slug+".", "Choose another one with --slug.")
}

// people finds the members whom the installation knows.
func (t *Target) people(ctx context.Context) error {
	t.users = map[string]string{}
	for _, p := range t.arrival.People {
		known, err := engine.Values[string](ctx, t.db, userKnown, mailhelm.EmailKey(p.Email))
		if err != nil {
			return err
		}
		if len(known) > 0 {
			t.users[p.ID] = known[0]
			continue
		}
		if known, err = engine.Values[string](ctx, t.db, idKnown, p.ID); err != nil {
			return err
		}
		if len(known) > 0 { // a person of the same id whose address changed in one of the installations
			t.users[p.ID] = mailhelm.NewID()
		}
	}
	return nil
}

// clear deletes the rows that an interrupted import left.
func (t *Target) clear(ctx context.Context) error {
	store := closing.NewOrgStore(t.db)
	for _, name := range store.Tables() {
		for {
			var n int
			err := t.hold(ctx, func(ctx context.Context) (err error) {
				n, err = store.EraseRows(ctx, name, t.arrival.Org.ID, batchRows)
				return err
			})
			if err != nil {
				return fmt.Errorf("rows of %s: %w", name, err)
			}
			if n < batchRows {
				break
			}
		}
	}
	return nil
}

// hold calls do in a transaction, if the organization is still that of this import.
func (t *Target) hold(ctx context.Context, do func(ctx context.Context) error) error {
	return t.db.InTx(ctx, func(ctx context.Context) error {
		held, err := engine.Values[int](ctx, t.db, holdImport, t.arrival.Org.ID, t.token)
		if err != nil {
			return err
		}
		if held[0] == 0 {
			return mailhelm.Conflict("Another import of this organization began.", "Wait for its end.")
		}
		return do(ctx)
	})
}

// Stored waits until the rows of the calls of Load are stored, and returns the first error. Load and
// Finish call it.
func (t *Target) Stored() error {
	if t.storing == nil {
		return nil
	}
	err := <-t.storing
	t.storing = nil
	return err
}

// Load implements [core.Target]. It returns when the lines are read, and stores the rows while the
// next ones are read. An error of storing them is returned by a later call.
func (t *Target) Load(ctx context.Context, name string, lines []byte) (int64, error) {
	table, err := find(name)
	if err != nil {
		return 0, err
	}
	kinds, err := t.kindsOf(ctx, table)
	if err != nil {
		return 0, err
	}
	names := []string{"org_id"}
	for _, c := range table.columns {
		names = append(names, c.name)
	}
	d := decoder{table: table, kinds: kinds, orgID: t.arrival.Org.ID, master: t.master, users: t.users}
	rows, err := d.decode(lines)
	if err = errors.Join(err, t.Stored()); err != nil {
		return 0, err
	}
	t.storing = make(chan error, 1)
	storing := t.storing
	go func() { storing <- t.store(ctx, table, names, rows) }()
	return int64(len(rows)), nil
}

// batchRows is the maximum number of rows of one transaction. Other writes on SQLite wait for it.
const batchRows = 2000

// store stores rows of a table, in batches.
func (t *Target) store(ctx context.Context, table *table, columns []string, rows [][]any) error {
	for batch := range slices.Chunk(rows, batchRows) {
		err := t.hold(ctx, func(ctx context.Context) error { return t.db.Load(ctx, table.insert, table.name, columns, batch) })
		if err != nil {
			return explain(table.name, err)
		}
	}
	return nil
}

// explain returns the error of rows that the database refused.
func explain(table string, err error) error {
	if err == nil || !engine.IsRefusedRow(err) {
		return err
	}
	next := "Export the organization again."
	if unique := uniqueHere[table]; unique != "" {
		next = "This installation may have the same " + unique + " for another organization: remove it in one of the installations."
	}
	return &mailhelm.Error{Code: mailhelm.CodeConflict, Message: "A row of " + table + " cannot be stored here.", Next: next, Err: err}
}

// uniqueHere are the tables with values that an installation has once, with what that is.
var uniqueHere = map[string]string{
	"receiving_domains": "receiving domain", "receiving_routes": "receiving domain", "domainauth_domains": "report address", "clients": "client id",
	"connections": "address for events", "inboxes": "inbox address", "inbox_tokens": "pull link", "site_keys": "site key", "sending_claims": "name in the sending account",
}

// kindsOf returns the kinds of a table's columns in this database.
func (t *Target) kindsOf(ctx context.Context, table *table) ([]kind, error) {
	if known, ok := t.kinds[table.name]; ok {
		return known, nil
	}
	rows, err := t.db.Reader().QueryContext(ctx, t.db.Dialect().Text(table.read.Text()), "")
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // no row was read
	types, err := typesOf(rows.ColumnTypes())
	if err = errors.Join(err, rows.Err()); err != nil {
		return nil, err
	}
	t.kinds[table.name], err = table.kinds(types)
	return t.kinds[table.name], err
}

// Finish implements [core.Target].
func (t *Target) Finish(ctx context.Context) ([]core.Joined, error) {
	if err := t.Stored(); err != nil {
		return nil, err
	}
	var joined []core.Joined
	org := t.arrival.Org
	err := t.hold(ctx, func(ctx context.Context) error {
		joined = nil
		for _, p := range t.arrival.People {
			state, err := t.join(ctx, p)
			if err != nil {
				return err
			}
			joined = append(joined, core.Joined{Email: p.Email, Role: p.Role, State: state})
		}
		if err := closing.NewOrgStore(t.db).RestoreRoutes(ctx, org.ID); err != nil {
			return err
		}
		if !t.arrival.Stopped {
			if _, err := t.db.Exec(ctx, stopCopy, org.ID, engine.At(t.now()), string(access.Operator)); err != nil {
				return err
			}
		}
		if err := t.keepErased(ctx); err != nil {
			return err
		}
		if err := t.record(ctx, org.ID); err != nil {
			return err
		}
		taken, err := engine.Values[int](ctx, t.db, slugTaken, t.arrival.Slug)
		if err != nil {
			return err
		}
		if taken[0] > 0 {
			return slugConflict(t.arrival.Slug)
		}
		return t.db.Change(ctx, "organization", showOrg, org.Name, t.arrival.Slug, org.Tier, org.RetentionDays, org.RateLimit, org.GitConnected,
			org.RequireSecondFactor, org.PlatformMode, org.CreatedAt, org.ID)
	})
	return joined, err
}

// keepErased stores the key of the hashes of erased addresses, so that these persons stay erased.
func (t *Target) keepErased(ctx context.Context) error {
	if len(t.arrival.ErasedKey) == 0 {
		return nil
	}
	own, err := t.master.Derive(privacy.KeyPurpose, privacy.KeyBytes)
	if err != nil || bytes.Equal(own, t.arrival.ErasedKey) {
		return err
	}
	key, err := privacy.SealFormerKey(t.master, t.arrival.Org.ID, t.arrival.ErasedKey)
	if err != nil {
		return err
	}
	_, err = t.db.Exec(ctx, keepFormerKey, t.arrival.Org.ID, key.ID, key.Sealed)
	return err
}

// join adds a member of the organization.
func (t *Target) join(ctx context.Context, p core.Person) (string, error) {
	known, err := engine.Values[string](ctx, t.db, userKnown, mailhelm.EmailKey(p.Email))
	if err != nil {
		return "", err
	}
	id, state := p.ID, core.StateCreated
	if here, ok := t.users[p.ID]; ok {
		id = here
	}
	switch {
	case len(known) > 0 && !t.arrival.Join:
		return core.StateKnown, nil
	case len(known) > 0:
		id, state = known[0], core.StateJoined
	default:
		if _, err := t.db.Exec(ctx, addUser, id, p.Email, mailhelm.EmailKey(p.Email), p.Name, t.noPassword, p.CreatedAt); err != nil {
			return "", err
		}
	}
	_, err = t.db.Exec(ctx, addMember, t.arrival.Org.ID, id, p.Role, p.Permissions, p.JoinedAt)
	return state, err
}

// Abandon implements [core.Target].
func (t *Target) Abandon(ctx context.Context) error {
	_ = t.Stored() // the rows are deleted in any case
	if err := t.clear(ctx); err != nil {
		return err
	}
	return t.hold(ctx, func(ctx context.Context) error { return closing.NewOrgStore(t.db).EraseOrg(ctx, t.arrival.Org.ID) })
}
