package storage

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core/attributes"
	"github.com/mailhelm/mailhelm/storage/engine"
	"github.com/mailhelm/mailhelm/storage/slots"
)

// movingPause is the RetryAfter of a call that needs a name whose values are still being
// moved.
const movingPause = 30 * time.Second

var (
	queuePass = engine.Register("queue pass", `
		INSERT INTO attribute_passes (org_id, generation, after_contact) VALUES ($1, 1, '')
		ON CONFLICT (org_id) DO UPDATE SET generation = attribute_passes.generation + 1, after_contact = ''`)
	passOf    = engine.RegisterPoint("pass", `SELECT generation, after_contact FROM attribute_passes WHERE org_id = $1`)
	passesDue = engine.Register("passes due", `SELECT org_id FROM attribute_passes ORDER BY org_id`)
	advance   = engine.Register("advance pass", `
		UPDATE attribute_passes SET after_contact = $1 WHERE org_id = $2 AND generation = $3`)
	endPass = engine.Register("end pass", `DELETE FROM attribute_passes WHERE org_id = $1 AND generation = $2`)

	setFilling = engine.Register("set filling", `UPDATE attributes SET filling = $1 WHERE org_id = $2 AND id = $3`)
	setSlot    = engine.Register("set slot", `UPDATE attributes SET slot = $1 WHERE org_id = $2 AND id = $3`)
	trustSlots = engine.Register("trust slots", `UPDATE attributes SET slot = filling, filling = '' WHERE org_id = $1 AND filling <> ''`)
	endMoves   = engine.Register("end moves", `DELETE FROM attribute_leftovers WHERE org_id = $1 AND attribute_id <> ''`)

	passContacts = engine.Register("contacts of a pass", `
		SELECT id, status, attributes FROM contacts WHERE org_id = $1 AND id > $2 ORDER BY id LIMIT $3 /*pg FOR UPDATE*/`)
	settleContacts = engine.Register("settle contacts", `
		UPDATE contacts SET attributes = j.v ->> 'attributes' FROM `+engine.ParameterRows(`$1`)+`
		WHERE contacts.org_id = $2 AND contacts.id = j.v ->> 'id'`)
)

type passRow struct {
	Generation int64  `db:"generation"`
	After      string `db:"after_contact"`
}

// settledContact is an element of the parameter of settleContacts.
type settledContact struct {
	ID         string `json:"id"`
	Attributes string `json:"attributes"`
}

func (s attributeStore) queuePass(ctx context.Context, orgID string) error {
	_, err := s.db.Exec(ctx, queuePass, orgID)
	return err
}

func (s attributeStore) PassesDue(ctx context.Context) ([]string, error) {
	return engine.Values[string](ctx, s.db, passesDue)
}

// assignSlots gives free slots to attributes without one, oldest attribute first. While a
// pass is due, a free slot may hold values of another attribute; it is trusted only after
// the pass. Without a due pass all free slots are empty.
func (s attributeStore) assignSlots(ctx context.Context, orgID string) error {
	r, err := s.readRegistry(ctx, orgID)
	if err != nil {
		return err
	}
	due, err := engine.List[passRow](ctx, s.db, passOf, orgID)
	if err != nil {
		return err
	}
	give := setSlot
	if len(due) > 0 {
		give = setFilling
	}
	free := slots.Columns()
	for _, row := range r.rows {
		free = slices.DeleteFunc(free, func(slot string) bool { return slot == row.Slot || slot == row.Filling })
	}
	slices.SortFunc(r.rows, func(a, b attributeRow) int {
		if a.CreatedAt != b.CreatedAt {
			return int(a.CreatedAt - b.CreatedAt)
		}
		return strings.Compare(a.ID, b.ID)
	})
	for _, row := range r.rows {
		if row.Slot != "" || row.Filling != "" {
			continue
		}
		kind := r.attributes[row.Name].SlotKind()
		i := slices.IndexFunc(free, func(slot string) bool { return strings.HasPrefix(slot, kind) })
		if i < 0 {
			continue
		}
		if _, err := s.db.Exec(ctx, give, free[i], orgID, row.ID); err != nil {
			return err
		}
		free = slices.Delete(free, i, i+1)
	}
	return nil
}

// Pass processes up to limit contacts of the due pass. It locks contacts before it shares
// the registry, as every write does.
func (s attributeStore) Pass(ctx context.Context, orgID string, limit int) (attributes.Passed, error) {
	var passed attributes.Passed
	err := s.db.InTx(ctx, func(ctx context.Context) error {
		passed = attributes.Passed{}
		due, err := engine.List[passRow](ctx, s.db, passOf, orgID)
		if err != nil || len(due) == 0 {
			passed.Done = len(due) == 0
			return err
		}
		contacts, err := engine.List[contactRow](ctx, s.db, passContacts, orgID, due[0].After, limit)
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
		// If the registry changed since the pass was read, the generation differs and the
		// pass starts again.
		_, err = s.db.Exec(ctx, advance, contacts[len(contacts)-1].ID, orgID, due[0].Generation)
		return err
	})
	return passed, err
}

func (s attributeStore) settleContacts(ctx context.Context, orgID string, contacts []contactRow) ([]string, error) {
	r, err := s.registry(ctx, orgID)
	if err != nil {
		return nil, err
	}
	var changed []string
	var settled []settledContact
	slotted := make([]slottedContact, len(contacts))
	for i, row := range contacts {
		row.TopicPreferences = emptyObject
		contact, err := row.contact()
		if err != nil {
			return nil, err
		}
		values, differs := attributes.Settle(contact.Attributes, r.attributes, r.moved)
		slotted[i] = slottedContact{row.ID, row.Status, values}
		if !differs {
			continue
		}
		encoded, err := encodeAttributes(values)
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
	return changed, slotStore(s).writeSlots(ctx, orgID, slotted)
}

// endPass marks the slots as filled and the values as moved. It reports false and changes
// nothing if the registry changed since the pass was read.
func (s attributeStore) endPass(ctx context.Context, orgID string, due passRow) (bool, error) {
	ended := 0
	err := s.changeRegistry(ctx, orgID, func(ctx context.Context, _ *registry) error {
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
