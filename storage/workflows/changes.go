package workflows

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/workflows"
	db "github.com/mailhelm/mailhelm/storage/engine"
)

// ChangeStore stores which contacts have changed while runs wait for changes.
type ChangeStore struct{ db *db.DB }

var _ workflows.ChangeStore = ChangeStore{}

// NewChangeStore returns the store of changed contacts on the database.
func NewChangeStore(on *db.DB) ChangeStore { return ChangeStore{on} }

// someWait is the SQL condition that the organization $1 has a workflow whose runs wait for
// changes. A paused workflow counts: its runs are woken when it is resumed.
const someWait = `EXISTS (SELECT 1 FROM workflows AS w WHERE w.org_id = $1 AND w.waits AND w.status IN ('active', 'paused', 'invalid'))`

var (
	touchContacts = db.Register("touch contacts of workflows", `
		INSERT INTO workflow_touched (org_id, id, contact_id)
		SELECT CAST($1 AS bytetext), v ->> 'id', v ->> 'contact' FROM `+db.ParameterRows(`$2`)+` WHERE `+someWait)
	touchRecipients = db.Register("touch recipients of workflows", `
		INSERT INTO workflow_touched (org_id, id, contact_id)
		SELECT CAST($1 AS bytetext), v ->> 'id', c.id FROM `+db.ParameterRows(`$2`)+`
		CROSS JOIN /*pg LATERAL (SELECT * FROM*/ contacts /*pg AS named
			WHERE named.org_id = $1 AND named.email_key = CAST(v ->> 'contact' AS bytetext) LIMIT 1)*/ AS c
		WHERE c.org_id = $1 AND c.email_key = v ->> 'contact' AND `+someWait)
	touchedOrgs   = db.Register("organizations with touched contacts", `SELECT DISTINCT org_id FROM workflow_touched WHERE `+db.NotDeleted("org_id")+` LIMIT $1`)
	touchedFirst  = db.Register("touched contacts of workflows", `SELECT id, contact_id FROM workflow_touched WHERE org_id = $1 ORDER BY id LIMIT $2 /*pg FOR UPDATE SKIP LOCKED*/`)
	forgetTouched = db.Register("forget touched contacts", `
		DELETE FROM workflow_touched WHERE org_id = $1 AND id IN (SELECT j.atom FROM json_each(CAST($2 AS text)) AS j)`)
	// lockRunsOf locks the active runs of contacts. So it waits for a process that moves one of
	// them, which may just begin to wait and have read the contact before its change. The
	// statement wakeRuns then sees that the run waits. Both statements compare an expression with
	// the status, so that no database finds the runs by the index of statuses: that would read all
	// active runs of the organization.
	lockRunsOf = db.Register("lock runs of contacts", `
		SELECT r.id FROM workflow_runs AS r WHERE r.org_id = $1 AND r.status || '' = 'active' AND r.contact_id IN (SELECT j.atom FROM json_each(CAST($2 AS text)) AS j)
		ORDER BY r.id /*pg FOR UPDATE*/`)
	wakeRuns = db.Register("wake runs", `
		UPDATE workflow_runs SET wake_at = $1 WHERE org_id = $2 AND status || '' = 'active' AND on_change AND (wake_at IS NULL OR wake_at > $3)
		AND contact_id IN (SELECT j.atom FROM json_each(CAST($4 AS text)) AS j)`)
)

// touchRow is a note that a contact has changed.
type touchRow struct {
	ID      string `db:"id" json:"id"`
	Contact string `db:"contact_id" json:"contact"`
}

func touchRows(contacts []string) (string, error) {
	rows := make([]touchRow, len(contacts))
	for i, contact := range contacts {
		rows[i] = touchRow{core.NewID(), contact}
	}
	return db.JSONParameter(rows)
}

func (s ChangeStore) Touch(ctx context.Context, orgID string, contactIDs []string) error {
	return s.touch(ctx, touchContacts, orgID, contactIDs)
}

func (s ChangeStore) TouchRecipients(ctx context.Context, orgID string, keys []string) error {
	return s.touch(ctx, touchRecipients, orgID, keys)
}

func (s ChangeStore) touch(ctx context.Context, statement *db.Statement, orgID string, contacts []string) error {
	if len(contacts) == 0 {
		return nil
	}
	parameter, err := touchRows(contacts)
	if err != nil {
		return err
	}
	return s.db.Later(ctx, statement, orgID, parameter)
}

func (s ChangeStore) Touched(ctx context.Context, limit int) ([]string, error) {
	return db.Values[string](ctx, s.db, touchedOrgs, limit)
}

func (s ChangeStore) Wake(ctx context.Context, orgID string, now time.Time, limit int) (int, error) {
	noted := 0
	err := s.db.InTx(ctx, func(ctx context.Context) error {
		notes, err := db.List[touchRow](ctx, s.db, touchedFirst, orgID, limit)
		if noted = len(notes); err != nil || noted == 0 {
			return err
		}
		ids, contacts := make([]string, noted), make([]string, noted)
		for i, n := range notes {
			ids[i], contacts[i] = n.ID, n.Contact
		}
		of, err := db.JSONParameter(contacts)
		if err != nil {
			return err
		}
		if _, err := db.Values[string](ctx, s.db, lockRunsOf, orgID, of); err != nil {
			return err
		}
		if _, err := s.db.Exec(ctx, wakeRuns, db.At(now), orgID, db.At(now), of); err != nil {
			return err
		}
		return db.ExecRows(ctx, s.db, forgetTouched, orgID, ids)
	})
	return noted, err
}
