package segments

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/segments"
	"github.com/mailhelm/mailhelm/storage/engine"
)

var (
	// touchContacts queues contacts for the evaluation of segments. It only inserts, so a
	// contact may be queued several times.
	touchContacts = engine.Register("touch contacts", `
		INSERT INTO segment_touched (org_id, id, contact_id)
		SELECT $1, v ->> 'id', v ->> 'contact' FROM `+engine.ParameterRows(`$2`)+` WHERE TRUE`)
	// touchRecipients queues the contacts with the given addresses for the evaluation of
	// segments, if the organization has an active segment. The LATERAL subquery makes
	// PostgreSQL find each contact through the index by address.
	touchRecipients = engine.Register("touch recipients", `
		INSERT INTO segment_touched (org_id, id, contact_id)
		SELECT c.org_id, v ->> 'id', c.id FROM `+engine.ParameterRows(`$1`)+`
		CROSS JOIN /*pg LATERAL (SELECT * FROM*/ contacts /*pg AS named
			WHERE named.org_id = $2 AND named.email_key = CAST(v ->> 'contact' AS bytetext) LIMIT 1)*/ AS c
		WHERE c.org_id = $2 AND c.email_key = v ->> 'contact' AND EXISTS (SELECT 1 FROM segments AS g WHERE g.org_id = $2 AND g.status = 'active')`)
	// touchedContacts selects the contacts that have waited longest in the queue
	// segment_touched. It sorts by the id of the queue's rows, because these ids increase
	// with time.
	touchedContacts = engine.Register("touched contacts", `
		SELECT id, contact_id FROM segment_touched WHERE org_id = $1 ORDER BY id LIMIT $2`)
	untouchContacts = engine.Register("untouch contacts", `
		DELETE FROM segment_touched WHERE org_id = $1 AND id IN (SELECT j.atom FROM json_each(CAST($2 AS text)) AS j)`)

	// dropSuppressed deletes addresses that are no longer on the suppression list of the
	// sending account. $2 is a JSON array of the addresses on that list.
	dropSuppressed = engine.Register("drop suppressed addresses", `
		DELETE FROM suppressed_addresses WHERE org_id = $1
		AND email_key NOT IN (SELECT j.atom FROM json_each(CAST($2 AS text)) AS j)`)
	saveSuppressed = engine.Register("save suppressed addresses", `
		INSERT INTO suppressed_addresses (org_id, email_key)
		SELECT $1, j.atom FROM json_each(CAST($2 AS text)) AS j WHERE TRUE
		ON CONFLICT DO NOTHING`)
)

// ChangeStore stores which contacts changed since segments were last evaluated for them,
// and a copy of the sending account's suppression list.
type ChangeStore struct{ db *engine.DB }

var _ segments.ChangeStore = ChangeStore{}

// NewChangeStore returns the store of changed contacts on the database.
func NewChangeStore(db *engine.DB) ChangeStore { return ChangeStore{db} }

// touchRow is a row of the queue of contacts for which segments must be evaluated.
type touchRow struct {
	ID      string `db:"id" json:"id"`
	Contact string `db:"contact_id" json:"contact"`
}

// Touch queues contacts for the evaluation of segments. It must run in the transaction that
// changes the contacts.
func (s ChangeStore) Touch(ctx context.Context, orgID string, contactIDs []string) error {
	parameter, err := touchRows(contactIDs)
	if err != nil {
		return err
	}
	return s.db.Later(ctx, touchContacts, orgID, parameter)
}

// touchRows returns the JSON parameter with one row for each contact: a new row id, and the
// contact. contacts has the ids of the contacts, or their addresses if the statement is
// touchRecipients.
func touchRows(contacts []string) (string, error) {
	rows := make([]touchRow, len(contacts))
	for i, contact := range contacts {
		rows[i] = touchRow{core.NewID(), contact}
	}
	return engine.JSONParameter(rows)
}

// TouchRecipients queues the contacts with the addresses for the evaluation of segments.
// keys has addresses in the form of core.EmailKey. It queues nothing if the organization
// has no active segment.
func (s ChangeStore) TouchRecipients(ctx context.Context, orgID string, keys []string) error {
	parameter, err := touchRows(keys)
	if err != nil {
		return err
	}
	return s.db.Later(ctx, touchRecipients, parameter, orgID)
}

func (s ChangeStore) Touches(ctx context.Context, orgID string, limit int) ([]segments.Touch, error) {
	return engine.ListAs(ctx, s.db, touchRow.touch, touchedContacts, orgID, limit)
}

// touch converts the row to a segments.Touch.
func (r touchRow) touch() segments.Touch {
	return segments.Touch{ID: r.ID, ContactID: r.Contact}
}

func (s ChangeStore) Untouch(ctx context.Context, orgID string, ids []string) error {
	return engine.ExecRows(ctx, s.db, untouchContacts, orgID, ids)
}

// ReplaceSuppressed replaces the copy of the sending account's suppression list by the
// given addresses.
func (s ChangeStore) ReplaceSuppressed(ctx context.Context, orgID string, keys []string) error {
	parameter, err := engine.JSONParameter(keys)
	if err != nil {
		return err
	}
	return s.db.InTx(ctx, func(ctx context.Context) error {
		if _, err := s.db.Exec(ctx, dropSuppressed, orgID, parameter); err != nil {
			return err
		}
		_, err := s.db.Exec(ctx, saveSuppressed, orgID, parameter)
		return err
	})
}

func (s ChangeStore) AddSuppressed(ctx context.Context, orgID string, keys []string) error {
	return engine.ExecRows(ctx, s.db, saveSuppressed, orgID, keys)
}
