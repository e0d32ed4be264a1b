package retention

import (
	"cmp"
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
	// deleteServerJobs reads an index on state and finalized_at. It passes over the jobs of
	// organizations with a longer period.
	deleteServerJobs = engine.Register("delete failed jobs of no organization", `
		DELETE FROM river_job WHERE id IN (
			SELECT j.id FROM river_job AS j WHERE j.state = 'discarded' AND j.finalized_at IS NOT NULL AND j.finalized_at < $1
			AND NOT EXISTS (SELECT 1 FROM orgs AS o WHERE o.id = j.args ->> 'org_id')
			ORDER BY j.finalized_at LIMIT $2)`)
)

// kindTable is where the records of a kind are: the column with their age, in which an index has
// them, the other columns of their key, a condition on them, the column with their organization
// unless it is org_id, and a condition on those that may be deleted.
type kindTable struct {
	name, age, key, condition, org, deletable string
	// divided is true for a table that is divided by age on PostgreSQL.
	divided bool
}

// ofEndedSends excludes the recipients of broadcasts that have not ended: their numbers are
// counted once more at the end.
const ofEndedSends = ` AND send_id NOT IN (SELECT b.id FROM broadcasts AS b WHERE b.org_id = $1 AND b.state = 'sending')`

// statements has the statements of a kind. before is the time $2 in all of them.
type statements struct {
	rows, due, oldest, purge *engine.Statement
}

// tables are the tables of the kinds.
var tables = map[retention.Name]kindTable{
	retention.ArchivedContacts: {name: "contacts", age: "updated_at", key: "id", condition: " AND status = 'archived'"},
	retention.AuditLog:         {name: "audit_events", age: "occurred_at", key: "id"},
	retention.MembershipLog:    {name: "membership_log", age: "occurred_at", key: "id"},
	retention.Undeliverable:    {name: "undeliverable", age: "last_changed_at", key: "id"},
	retention.AssistantCalls:   {name: "tool_usage", age: "day", key: "client_id, user_id, operation"},
	retention.TestSends:        {name: "test_sends", age: "created_at", key: "id"},
	retention.Recipients:       {name: "handover_recipients", age: "changed_at", key: "send_id, recipient", condition: " AND state IN ('sent', 'failed', 'filtered')", deletable: ofEndedSends},
	retention.Timelines:        {name: "workflow_events", age: "occurred_at", key: "workflow_id, run_id, id", divided: true},
	retention.Replay:           {name: "replay_records", age: "called_at", key: "space, key", condition: " AND called_at IS NOT NULL"},
	retention.FailedJobs:       {name: "river_job", age: "finalized_at", key: "id", condition: " AND state = 'discarded'", org: "args ->> 'org_id'"},
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
	from := " FROM " + t.name + " WHERE " + cmp.Or(t.org, "org_id") + " = $1" + t.condition
	s := statements{
		rows:   engine.Register("number of "+string(kind)+" of an organization", `SELECT count(*) AS n FROM (SELECT 1 AS one`+from+` LIMIT $2) AS counted`),
		due:    engine.Register("count due "+string(kind), `SELECT count(*) AS n FROM (SELECT 1 AS one`+from+` AND `+t.age+` < $2 LIMIT $3) AS counted`),
		oldest: engine.Register("oldest of "+string(kind), `SELECT `+t.age+` AS at`+from+` AND `+t.age+` > $2 ORDER BY `+t.age+` LIMIT 1`),
	}
	if kind != retention.ArchivedContacts {
		columns, window := t.age+", "+t.key, ""
		if t.divided {
			// PostgreSQL reads only the partitions from before $2. SQLite would read all rows from
			// before it, instead of those of the subquery.
			window = ` /*pg AND ` + t.age + ` < $2*/`
		}
		s.purge = engine.Register("delete old "+string(kind), `DELETE`+from+window+` AND (`+columns+`) IN (
			SELECT `+columns+from+` AND `+t.age+` < $2`+t.deletable+` ORDER BY `+t.age+` LIMIT $3)`)
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
	if f.Oldest, err = s.oldest(ctx, orgID, kind); err != nil || f.Oldest.IsZero() {
		return f, err
	}
	if before.IsZero() {
		return f, nil
	}
	due, err := engine.Values[int](ctx, s.db, of.due, orgID, s.age(kind, before), retention.MaxCounted)
	if err != nil {
		return f, err
	}
	f.Due = due[0]
	return f, nil
}

// oldest returns the time of the oldest record of a kind, the zero time if there is none.
func (s Store) oldest(ctx context.Context, orgID string, kind retention.Name) (time.Time, error) {
	statement, after := byKind[kind].oldest, s.age(kind, time.UnixMicro(0))
	if kind == retention.FailedJobs {
		found, err := engine.Values[engine.JobTime](ctx, s.db, statement, orgID, after)
		if err != nil || len(found) == 0 {
			return time.Time{}, err
		}
		return time.Time(found[0]), nil
	}
	found, err := engine.Values[engine.Time](ctx, s.db, statement, orgID, after)
	if err != nil || len(found) == 0 {
		return time.Time{}, err
	}
	return found[0].Time(), nil
}

// age returns a time as a parameter that compares with the age of records of a kind.
func (s Store) age(kind retention.Name, at time.Time) any {
	if kind == retention.FailedJobs {
		return s.db.JobParameter(at)
	}
	return engine.At(at)
}

// DeleteOld implements [retention.Store].
func (s Store) DeleteOld(ctx context.Context, orgID string, kind retention.Name, before time.Time, limit int) (int, error) {
	statement := byKind[kind].purge
	if statement == nil {
		return 0, fmt.Errorf("storage: %s are not deleted by rows", kind)
	}
	return s.db.Exec(ctx, statement, orgID, s.age(kind, before), limit)
}

// DeleteServerJobs implements [retention.Store].
func (s Store) DeleteServerJobs(ctx context.Context, before time.Time, limit int) (int, error) {
	return s.db.Exec(ctx, deleteServerJobs, s.db.JobParameter(before), limit)
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
