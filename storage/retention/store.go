package retention

import (
	"context"
	"fmt"
	"time"

	"github.com/mailhelm/mailhelm/core/retention"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// Store is [retention.Store].
type Store struct{ db *engine.DB }

var _ retention.Store = Store{}

// New returns the store on the database.
func New(db *engine.DB) Store { return Store{db} }

var (
	states  = engine.Register("retention of kinds", `SELECT kind, days, changed_at, seen_at, ran_at, deleted FROM retention WHERE org_id = $1`)
	setDays = engine.Register("set retention", `
		INSERT INTO retention (org_id, kind, days, changed_at) VALUES ($1, $2, $3, $4)
		ON CONFLICT (org_id, kind) DO UPDATE SET days = excluded.days, changed_at = excluded.changed_at`)
	noteRun = engine.Register("note run of retention", `
		INSERT INTO retention (org_id, kind, seen_at, ran_at, deleted) VALUES ($1, $2, $3, $3, $4)
		ON CONFLICT (org_id, kind) DO UPDATE SET seen_at = coalesce(retention.seen_at, excluded.seen_at), ran_at = excluded.ran_at,
			deleted = retention.deleted + excluded.deleted`)
	archivedContacts = engine.Register("archived contacts by change", `
		SELECT id, updated_at FROM contacts WHERE org_id = $1 AND status = 'archived' AND updated_at < $2 AND (updated_at, id) > ($3, $4)
		ORDER BY updated_at, id LIMIT $5`)
)

// kindTable is where the records of a kind are: the column with their age, the other columns of
// their key, and a condition on them. The columns are in the order of an index.
type kindTable struct {
	name, age, key, condition string
}

// statements has the statements of a kind. before is the time $2 in all of them.
type statements struct {
	rows, due, oldest, purge *engine.Statement
}

// tables are the tables of the kinds.
var tables = map[retention.Name]kindTable{
	retention.ArchivedContacts: {"contacts", "updated_at", "id", " AND status = 'archived'"},
	retention.AuditLog:         {"audit_events", "occurred_at", "id", ""},
	retention.MembershipLog:    {"membership_log", "occurred_at", "id", ""},
	retention.Undeliverable:    {"undeliverable", "last_changed_at", "id", ""},
	retention.AssistantCalls:   {"tool_usage", "day", "client_id, user_id, operation", ""},
	retention.TestSends:        {"test_sends", "created_at", "id", ""},
	retention.Replay:           {"replay_records", "called_at", "space, key", " AND called_at IS NOT NULL"},
}

// byKind has the statements of all kinds.
var byKind = func() map[retention.Name]statements {
	all := map[retention.Name]statements{}
	for _, k := range retention.Kinds() {
		all[k.Name] = tables[k.Name].statements(k.Name)
	}
	return all
}()

func (t kindTable) statements(kind retention.Name) statements {
	from := " FROM " + t.name + " WHERE org_id = $1" + t.condition
	s := statements{
		rows:   engine.Register("number of "+string(kind)+" of an organization", `SELECT count(*) AS n FROM (SELECT 1 AS one`+from+` LIMIT $2) AS counted`),
		due:    engine.Register("count due "+string(kind), `SELECT count(*) AS n FROM (SELECT 1 AS one`+from+` AND `+t.age+` < $2 LIMIT $3) AS counted`),
		oldest: engine.Register("oldest of "+string(kind), `SELECT `+t.age+` AS at`+from+` AND `+t.age+` > $2 ORDER BY `+t.age+` LIMIT 1`),
	}
	if kind != retention.ArchivedContacts {
		columns := t.age + ", " + t.key
		s.purge = engine.Register("delete old "+string(kind), `DELETE FROM `+t.name+` WHERE org_id = $1 AND (`+columns+`) IN (
			SELECT `+columns+from+` AND `+t.age+` < $2 ORDER BY `+columns+` LIMIT $3)`)
	}
	return s
}

// stateRow is what is stored about a kind.
type stateRow struct {
	Kind      retention.Name `db:"kind"`
	Days      *int           `db:"days"`
	ChangedAt *engine.Time   `db:"changed_at"`
	SeenAt    *engine.Time   `db:"seen_at"`
	RanAt     *engine.Time   `db:"ran_at"`
	Deleted   int            `db:"deleted"`
}

// States implements [retention.Store].
func (s Store) States(ctx context.Context, orgID string) (map[retention.Name]retention.State, error) {
	rows, err := engine.List[stateRow](ctx, s.db, states, orgID)
	found := make(map[retention.Name]retention.State, len(rows))
	for _, r := range rows {
		found[r.Kind] = retention.State{
			Days: r.Days, ChangedAt: engine.OptionalTime(r.ChangedAt), SeenAt: engine.OptionalTime(r.SeenAt), RanAt: engine.OptionalTime(r.RanAt), Deleted: r.Deleted,
		}
	}
	return found, err
}

// SetDays implements [retention.Store].
func (s Store) SetDays(ctx context.Context, orgID string, kind retention.Name, days *int, now time.Time) error {
	_, err := s.db.Exec(ctx, setDays, orgID, string(kind), days, engine.At(now))
	return err
}

// NoteRun implements [retention.Store].
func (s Store) NoteRun(ctx context.Context, orgID string, kind retention.Name, now time.Time, deleted int) error {
	_, err := s.db.Exec(ctx, noteRun, orgID, string(kind), engine.At(now), deleted)
	return err
}

// Figures implements [retention.Store].
func (s Store) Figures(ctx context.Context, orgID string, kind retention.Name, before time.Time) (retention.Figures, error) {
	var f retention.Figures
	of := byKind[kind]
	rows, err := engine.Values[int](ctx, s.db, of.rows, orgID, retention.MaxCounted)
	if err != nil || rows[0] == 0 {
		return f, err
	}
	f.Rows = rows[0]
	oldest, err := engine.Values[engine.Time](ctx, s.db, of.oldest, orgID, 0)
	if err != nil || len(oldest) == 0 {
		return f, err
	}
	f.Oldest = oldest[0].Time()
	if before.IsZero() {
		return f, nil
	}
	due, err := engine.Values[int](ctx, s.db, of.due, orgID, engine.At(before), retention.MaxCounted)
	if err != nil {
		return f, err
	}
	f.Due = due[0]
	return f, nil
}

// DeleteOld implements [retention.Store].
func (s Store) DeleteOld(ctx context.Context, orgID string, kind retention.Name, before time.Time, limit int) (int, error) {
	statement := byKind[kind].purge
	if statement == nil {
		return 0, fmt.Errorf("storage: %s are not deleted by rows", kind)
	}
	return s.db.Exec(ctx, statement, orgID, engine.At(before), limit)
}

// ArchivedContacts implements [retention.Store].
func (s Store) ArchivedContacts(ctx context.Context, orgID string, before time.Time, after *retention.ArchivedContact, limit int) ([]retention.ArchivedContact, error) {
	type contactRow struct {
		ID        string      `db:"id"`
		UpdatedAt engine.Time `db:"updated_at"`
	}
	position := contactRow{}
	if after != nil {
		position = contactRow{after.ID, engine.At(after.UpdatedAt)}
	}
	contact := func(r contactRow) retention.ArchivedContact {
		return retention.ArchivedContact{ID: r.ID, UpdatedAt: r.UpdatedAt.Time()}
	}
	return engine.ListAs(ctx, s.db, contact, archivedContacts, orgID, engine.At(before), position.UpdatedAt, position.ID, limit)
}
