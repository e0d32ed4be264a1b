package workflows

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/workflows"
	"github.com/mailhelm/mailhelm/core/workflows/engine"
	db "github.com/mailhelm/mailhelm/storage/engine"
)

// EntryStore stores the triggers that have happened, and new runs.
type EntryStore struct{ db *db.DB }

var _ workflows.EntryStore = EntryStore{}

// NewEntryStore returns the store of entries on the database.
func NewEntryStore(on *db.DB) EntryStore { return EntryStore{on} }

// runsOfContacts are the FROM and WHERE clauses of the runs c of the contacts in $1, a JSON array, in
// the workflow $3 of the organization $2. In PostgreSQL, the workflow is compared by an
// expression without an index. Without statistics it would otherwise read all runs of the
// workflow for each contact.
const runsOfContacts = `json_each(CAST($1 AS text)) AS j
		CROSS JOIN /*pg LATERAL (SELECT * FROM*/ workflow_runs
			/*pg WHERE org_id = $2 AND contact_id = CAST(j.atom AS bytetext) AND workflow_id || '' = $3)*/ AS c
		WHERE c.org_id = $2 AND c.contact_id = j.atom AND c.workflow_id = $3`

const entryColumns = `id, contact_id, cause, source_key, occurred_at`

var (
	noteEntries = db.Register("note workflow entries", `
		INSERT INTO workflow_entries (org_id, workflow_id, `+entryColumns+`)
		SELECT w.org_id, w.id, v ->> 'id', v ->> 'contact', v ->> 'cause', w.trigger_key, CAST(v ->> 'at' AS bigint)
		FROM workflows AS w CROSS JOIN `+db.ParameterRows(`$1`)+`
		WHERE w.org_id = $2 AND w.status = 'active' AND w.trigger_kind = $3 AND w.trigger_source = $4 AND w.activated_at <= CAST(v ->> 'at' AS bigint)`)
	// noteRecipients finds the contacts by the key of their address. The LATERAL subquery
	// makes PostgreSQL use the index.
	noteRecipients = db.Register("note workflow entries of recipients", `
		INSERT INTO workflow_entries (org_id, workflow_id, `+entryColumns+`)
		SELECT w.org_id, w.id, v ->> 'id', c.id, v ->> 'cause', w.trigger_key, CAST(v ->> 'at' AS bigint)
		FROM workflows AS w CROSS JOIN `+db.ParameterRows(`$1`)+`
		CROSS JOIN /*pg LATERAL (SELECT * FROM*/ contacts /*pg AS named
			WHERE named.org_id = $2 AND named.email_key = CAST(v ->> 'contact' AS bytetext) LIMIT 1)*/ AS c
		WHERE c.org_id = $2 AND c.email_key = v ->> 'contact' AND w.org_id = $2 AND w.status = 'active' AND w.trigger_kind = 'event' AND w.trigger_source = $3
		AND w.activated_at <= CAST(v ->> 'at' AS bigint)`)
	oldestEntries = db.Register("workflow entries", `
		SELECT `+entryColumns+` FROM workflow_entries WHERE org_id = $1 AND workflow_id = $2 ORDER BY id LIMIT $3`)
	lockOldestEntries = db.Register("lock workflow entries", `
		SELECT `+entryColumns+` FROM workflow_entries WHERE org_id = $1 AND workflow_id = $2 ORDER BY id LIMIT $3 /*pg FOR UPDATE SKIP LOCKED*/`)
	forgetEntries = db.Register("forget workflow entries", `
		DELETE FROM workflow_entries WHERE org_id = $1 AND workflow_id = $2 AND id IN (SELECT j.atom FROM json_each(CAST($3 AS text)) AS j)`)
	pastRuns = db.Register("past runs", `
		WITH last AS (SELECT max(c.id) AS id FROM `+runsOfContacts+` GROUP BY c.contact_id)
		SELECT `+runColumns+` FROM workflow_runs AS r JOIN last ON last.id = r.id WHERE r.org_id = $2 AND r.workflow_id = $3`)
	// enrollContacts skips a contact with an active run by the unique index
	// workflow_runs_live.
	enrollContacts = db.Register("enroll contacts", `
		INSERT INTO workflow_runs (org_id, workflow_id, id, version, contact_id, status, node_path, phase, until_at, wake_at, on_change, passed, passes,
			cause, source_key, started_at, completed_at, exit_kind, exit_name, faults)
		SELECT $1, v ->> 'workflow', v ->> 'id', CAST(v ->> 'version' AS bigint), v ->> 'contact', v ->> 'status', v ->> 'node', v ->> 'phase', NULL,
			CAST(v ->> 'wake' AS bigint), FALSE, FALSE, '', v ->> 'cause', v ->> 'source', CAST(v ->> 'started' AS bigint), NULL, '', '', 0
		FROM `+db.ParameterRows(`$2`)+` WHERE TRUE
		ON CONFLICT DO NOTHING RETURNING id`)
	// contactsWithRuns is a statement of its own: as a condition of enrollContacts it would be
	// read for each workflow.
	contactsWithRuns = db.Register("contacts with runs", `SELECT DISTINCT c.contact_id FROM `+runsOfContacts)
)

// entryRow is an entry, in both directions.
type entryRow struct {
	ID         string  `db:"id" json:"id"`
	ContactID  string  `db:"contact_id" json:"contact"`
	Cause      string  `db:"cause" json:"cause"`
	SourceKey  string  `db:"source_key" json:"-"`
	OccurredAt db.Time `db:"occurred_at" json:"at"`
}

func (r entryRow) entry() workflows.Entry {
	return workflows.Entry{ID: r.ID, ContactID: r.ContactID, Cause: workflows.Cause(r.Cause), SourceKey: r.SourceKey, OccurredAt: r.OccurredAt.Time()}
}

func storedEntries(entries []workflows.Entry) (string, error) {
	rows := make([]entryRow, len(entries))
	for i, e := range entries {
		if e.ID == "" {
			e.ID = core.NewID()
		}
		rows[i] = entryRow{ID: e.ID, ContactID: e.ContactID, Cause: string(e.Cause), OccurredAt: db.At(e.OccurredAt)}
	}
	return db.JSONParameter(rows)
}

func (s EntryStore) Note(ctx context.Context, orgID string, kind workflows.TriggerKind, source string, rows []workflows.Entry) error {
	parameter, err := storedEntries(rows)
	if err != nil {
		return err
	}
	return s.db.Later(ctx, noteEntries, parameter, orgID, string(kind), source)
}

func (s EntryStore) NoteRecipients(ctx context.Context, orgID, source string, rows []workflows.Entry) error {
	parameter, err := storedEntries(rows)
	if err != nil {
		return err
	}
	return s.db.Later(ctx, noteRecipients, parameter, orgID, source)
}

func (s EntryStore) Entries(ctx context.Context, orgID, workflowID string, limit int) ([]workflows.Entry, error) {
	return db.ListAs(ctx, s.db, entryRow.entry, s.db.LockedInside(ctx, oldestEntries, lockOldestEntries), orgID, workflowID, limit)
}

func (s EntryStore) Forget(ctx context.Context, orgID, workflowID string, ids []string) error {
	parameter, err := db.JSONParameter(ids)
	if err != nil {
		return err
	}
	_, err = s.db.Exec(ctx, forgetEntries, orgID, workflowID, parameter)
	return err
}

func (s EntryStore) Past(ctx context.Context, orgID, workflowID string, contactIDs []string) (map[string]workflows.Run, error) {
	parameter, err := db.JSONParameter(contactIDs)
	if err != nil {
		return nil, err
	}
	runs, err := db.ListParsed(ctx, s.db, runRow.run, pastRuns, parameter, orgID, workflowID)
	past := make(map[string]workflows.Run, len(runs))
	for _, r := range runs {
		past[r.ContactID] = r
	}
	return past, err
}

func (s EntryStore) Enroll(ctx context.Context, orgID, workflowID string, runs []workflows.Run, once bool) (int, error) {
	enrolled := 0
	err := s.db.InTx(ctx, func(ctx context.Context) error {
		starting := runs
		if once {
			var err error
			if starting, err = s.withoutRuns(ctx, orgID, workflowID, runs); err != nil {
				return err
			}
		}
		parameter, err := storedRuns(orgID, starting)
		if err != nil {
			return err
		}
		ids, err := db.Values[string](ctx, s.db, enrollContacts, orgID, parameter)
		if err != nil {
			return err
		}
		enrolled = len(ids)
		stored := make(map[string]bool, len(ids))
		for _, id := range ids {
			stored[id] = true
		}
		var events []workflows.Event
		for _, r := range starting {
			if stored[r.ID] {
				events = append(events, workflows.Event{RunID: r.ID, Version: r.Version, Event: engine.Event{Type: engine.Enrolled, At: r.StartedAt}})
			}
		}
		return addTimeline(ctx, s.db, orgID, workflowID, events)
	})
	return enrolled, err
}

// withoutRuns returns the runs of contacts that have no run in the workflow.
func (s EntryStore) withoutRuns(ctx context.Context, orgID, workflowID string, runs []workflows.Run) ([]workflows.Run, error) {
	contacts := make([]string, len(runs))
	for i, r := range runs {
		contacts[i] = r.ContactID
	}
	parameter, err := db.JSONParameter(contacts)
	if err != nil {
		return nil, err
	}
	known, err := db.Values[string](ctx, s.db, contactsWithRuns, parameter, orgID, workflowID)
	if err != nil {
		return nil, err
	}
	has := make(map[string]bool, len(known))
	for _, id := range known {
		has[id] = true
	}
	starting := make([]workflows.Run, 0, len(runs))
	for _, r := range runs {
		if !has[r.ContactID] {
			starting = append(starting, r)
		}
	}
	return starting, nil
}
