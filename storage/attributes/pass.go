package attributes

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/mailhelm/mailhelm/core/attributes"
	"github.com/mailhelm/mailhelm/storage/engine"
	"github.com/mailhelm/mailhelm/storage/slots"
)

// PassStore runs passes. A pass rewrites all contacts of an organization after a change of
// its attribute definitions.
type PassStore struct{ db *engine.DB }

var _ attributes.PassStore = PassStore{}

// NewPassStore returns the store that runs passes, which rewrite all contacts of an
// organization after a change of its attributes.
func NewPassStore(db *engine.DB) PassStore { return PassStore{db} }

var (
	// queuedPass queues a pass over the contacts, or restarts a running one from the first
	// contact. It increments the pass's generation. A concurrent step of the earlier run
	// then finds another generation, and neither advances nor ends the pass.
	queuedPass = engine.Register("queue pass", `
		INSERT INTO attribute_passes (org_id, generation, after_contact) VALUES ($1, 1, '')
		ON CONFLICT (org_id) DO UPDATE SET generation = attribute_passes.generation + 1, after_contact = ''`)
	passOf    = engine.RegisterPoint("pass", `SELECT generation, after_contact FROM attribute_passes WHERE org_id = $1`)
	passesDue = engine.Register("passes due", `SELECT org_id FROM attribute_passes WHERE `+engine.NotDeleted("org_id")+` ORDER BY org_id`)
	// advance stores the last contact that a pass over the contacts has processed. It
	// changes no row if another process has restarted the pass.
	advance = engine.Register("advance pass", `
		UPDATE attribute_passes SET after_contact = $1 WHERE org_id = $2 AND generation = $3`)
	// endPass deletes the row of a finished pass over the contacts. It deletes no row if
	// another process has restarted the pass.
	endPass = engine.Register("end pass", `DELETE FROM attribute_passes WHERE org_id = $1 AND generation = $2`)

	// trustSlots lets predicates read the columns of contact_slots that a pass has filled.
	trustSlots = engine.Register("trust slots", `UPDATE attributes SET slot = filling, filling = '' WHERE org_id = $1 AND filling <> ''`)
	// endMoves deletes the former attribute names from which a pass has moved all values. It
	// keeps names of deleted attributes, because their values stay in the contact records.
	endMoves = engine.Register("end moves", `DELETE FROM attribute_leftovers WHERE org_id = $1 AND attribute_id <> ''`)

	// passContacts reads a page of contacts by id, archived ones too. On PostgreSQL it locks
	// them until the transaction ends. A boolean column is true for an active contact, so
	// that this package need not import the statuses of core/contacts.
	passContacts = engine.Register("contacts of a pass", `
		SELECT id, status = 'active' AS active, attributes FROM contacts WHERE org_id = $1 AND id > $2 ORDER BY id LIMIT $3 /*pg FOR UPDATE*/`)
	// passProgress counts the contacts that a pass has processed, and all contacts. It has no
	// row if no pass is due.
	passProgress = engine.Register("pass progress", `
		SELECT COUNT(CASE WHEN c.id <= p.after_contact THEN 1 END) AS converted, COUNT(c.id) AS contacts
		FROM attribute_passes p LEFT JOIN contacts c ON c.org_id = p.org_id WHERE p.org_id = $1 GROUP BY p.org_id`)
	// settleContacts replaces the attribute values of contacts. It does not change
	// updated_at, the time of the last write by a caller, a sync or a push.
	settleContacts = engine.Register("settle contacts", `
		UPDATE contacts SET attributes = j.v ->> 'attributes' FROM `+engine.ParameterRows(`$1`)+`
		WHERE contacts.org_id = $2 AND contacts.id = j.v ->> 'id'`)
)

// passRow is a due pass over all contacts of an organization. Generation is incremented at
// each restart. After is the id of the last processed contact.
type passRow struct {
	Generation int64  `db:"generation"`
	After      string `db:"after_contact"`
}

// passedRow is a contact that a pass over the contacts processes.
type passedRow struct {
	ID         string `db:"id"`
	Active     bool   `db:"active"`
	Attributes string `db:"attributes"`
}

// settledContact is an element of the JSON parameter of settleContacts: a contact with its
// rewritten attribute values.
type settledContact struct {
	ID         string `json:"id"`
	Attributes string `json:"attributes"`
}

// queuePass queues a pass, which rewrites the attribute values of all contacts of the
// organization. A running pass restarts from the first contact.
func queuePass(ctx context.Context, db *engine.DB, orgID string) error {
	_, err := db.Exec(ctx, queuedPass, orgID)
	return err
}

func (s PassStore) PassesDue(ctx context.Context) ([]string, error) {
	return engine.Values[string](ctx, s.db, passesDue)
}

// progressRow is the progress of a pass over the contacts.
type progressRow struct {
	Converted int `db:"converted"`
	Contacts  int `db:"contacts"`
}

func (s PassStore) PassProgress(ctx context.Context, orgID string) (attributes.Progress, error) {
	due, err := engine.List[progressRow](ctx, s.db, passProgress, orgID)
	if err != nil || len(due) == 0 {
		return attributes.Progress{}, err
	}
	return attributes.Progress{Due: true, Converted: due[0].Converted, Contacts: due[0].Contacts}, nil
}

// Pass rewrites the attribute values of up to limit contacts, if a pass over the
// organization's contacts is due. Like every write of contacts, it locks the contacts first
// and then takes the shared lock on the attribute definitions.
func (s PassStore) Pass(ctx context.Context, orgID string, limit int) (attributes.Passed, error) {
	var passed attributes.Passed
	err := s.db.InTx(ctx, func(ctx context.Context) error {
		passed = attributes.Passed{}
		due, err := engine.List[passRow](ctx, s.db, passOf, orgID)
		if err != nil || len(due) == 0 {
			passed.Done = len(due) == 0
			return err
		}
		contacts, err := engine.List[passedRow](ctx, s.db, passContacts, orgID, due[0].After, limit)
		if err != nil {
			return err
		}
		if len(contacts) == 0 {
			passed.Done, err = s.endPass(ctx, orgID, due[0])
			return err
		}
		if passed.Changed, err = s.settleContacts(ctx, orgID, contacts); err != nil {
			return err
		}
		// If a change of the attribute definitions has restarted the pass since due was read,
		// the pass has a new generation. This statement then changes nothing.
		_, err = s.db.Exec(ctx, advance, contacts[len(contacts)-1].ID, orgID, due[0].Generation)
		return err
	})
	return passed, err
}

// settleContacts rewrites the attribute values of contacts, and their columns of
// contact_slots, according to the current attribute definitions. It returns the ids of the
// contacts whose attribute values changed.
func (s PassStore) settleContacts(ctx context.Context, orgID string, contacts []passedRow) ([]string, error) {
	r, err := slots.InForce(ctx, s.db, orgID)
	if err != nil {
		return nil, err
	}
	var changed []string
	var settled []settledContact
	slotted := make([]slots.Contact, len(contacts))
	for i, row := range contacts {
		stored := map[string]any{}
		if err := json.Unmarshal([]byte(row.Attributes), &stored); err != nil {
			return nil, fmt.Errorf("storage: attributes of contact %s: %w", row.ID, err)
		}
		values, differs := r.Settle(stored)
		slotted[i] = slots.Contact{ID: row.ID, Active: row.Active, Attributes: values}
		if !differs {
			continue
		}
		encoded, err := slots.Encode(values)
		if err != nil {
			return nil, err
		}
		settled, changed = append(settled, settledContact{row.ID, encoded}), append(changed, row.ID)
	}
	if len(settled) > 0 {
		parameter, err := engine.JSONParameter(settled)
		if err != nil {
			return nil, err
		}
		if _, err := s.db.Exec(ctx, settleContacts, parameter, orgID); err != nil {
			return nil, err
		}
	}
	return changed, slots.Write(ctx, s.db, orgID, slotted)
}

// endPass deletes the finished pass and the former attribute names whose values the pass
// has moved. It lets predicates read the columns that the pass has filled. If the pass was
// restarted, endPass returns false and changes nothing.
func (s PassStore) endPass(ctx context.Context, orgID string, due passRow) (bool, error) {
	ended := 0
	err := changeRegistry(ctx, s.db, orgID, func(ctx context.Context, _ *slots.Registry) error {
		var err error
		if ended, err = s.db.Exec(ctx, endPass, orgID, due.Generation); err != nil || ended == 0 {
			return err
		}
		if _, err := s.db.Exec(ctx, trustSlots, orgID); err != nil {
			return err
		}
		_, err = s.db.Exec(ctx, endMoves, orgID)
		return err
	})
	return ended > 0, err
}
