package contacts

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core/activities"
	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/storage/engine"
)

var (
	// insertStubs inserts a stub (a contact known only from activities) for each person. It
	// skips a person if another contact has the address or external id, even one that a
	// concurrent call has inserted.
	insertStubs = engine.Register("insert stubs", InsertSQL(`$2`)+`
		ON CONFLICT DO NOTHING`)
	// addStubSlots inserts empty rows of contact_slots for new stubs (contacts known only
	// from activities), because every active contact must have a row.
	addStubSlots = engine.Register("add stub slots", `
		INSERT INTO contact_slots (org_id, contact_id)
		SELECT c.org_id, c.id FROM `+engine.RowsNamed("contacts", engine.Named{Column: "id", Equals: "j.value ->> 'id'"})+`
		ON CONFLICT DO NOTHING`)
)

// InsertStubs inserts a stub for each person without a contact, and returns how many it
// inserted. A stub is a contact known only from activities.
func (s Store) InsertStubs(ctx context.Context, orgID string, people []activities.Person, at time.Time) (int, error) {
	rows := make([]Row, len(people))
	for i, p := range people {
		stub, err := contacts.StubOf(p.ID, contacts.Claim{Email: p.Email, ExternalID: p.ExternalID}, at)
		if err != nil {
			return 0, err
		}
		rows[i] = RowOf(stub, emptyObject, emptyObject)
	}
	parameter, err := engine.JSONParameter(rows)
	if err != nil {
		return 0, err
	}
	var made int
	err = s.db.InTx(ctx, func(ctx context.Context) error {
		if made, err = s.db.Exec(ctx, insertStubs, orgID, parameter); err != nil || made == 0 {
			return err
		}
		_, err = s.db.Exec(ctx, addStubSlots, parameter, orgID)
		return err
	})
	return made, err
}
