package attributes

import (
	"context"
	"slices"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/attributes"
	"github.com/mailhelm/mailhelm/storage/engine"
	"github.com/mailhelm/mailhelm/storage/slots"
)

var (
	// allLeftovers reads the names that attributes left, by renaming or deletion, while
	// contacts may have values under them.
	allLeftovers = engine.RegisterPoint("leftovers", `SELECT name, attribute_id FROM attribute_leftovers WHERE org_id = $1`)
	// insertLeftover replaces the attribute of a name that was left before.
	insertLeftover = engine.Register("insert leftover", `
		INSERT INTO attribute_leftovers (org_id, name, attribute_id) VALUES ($1, $2, $3)
		ON CONFLICT (org_id, name) DO UPDATE SET attribute_id = excluded.attribute_id`)
	// deleteLeftover forgets a name that an attribute has again.
	deleteLeftover = engine.Register("delete leftover", `DELETE FROM attribute_leftovers WHERE org_id = $1 AND name = $2`)
	// abandonLeftover keeps the names that a deleted attribute had left, so that reads
	// still hide their values.
	abandonLeftover = engine.Register("abandon leftovers", `
		UPDATE attribute_leftovers SET attribute_id = '' WHERE org_id = $1 AND attribute_id = $2`)
	// valueStands reads contacts until it finds one with a value of this name. Only the
	// rename to a deleted name needs it.
	valueStands = engine.Register("value stands", `
		SELECT 1 FROM contacts WHERE org_id = $1 AND (attributes/*pg ::json*/ -> $2) IS NOT NULL LIMIT 1`)
)

// leftoverRow is a name that an attribute left. AttributeID is "" if the attribute was
// deleted.
type leftoverRow struct {
	Name        string `db:"name"`
	AttributeID string `db:"attribute_id"`
}

// leftovers returns the ids of attributes by the names that they left. The id is "" for a
// deleted attribute.
func leftovers(ctx context.Context, db *engine.DB, orgID string) (map[string]string, error) {
	rows, err := engine.List[leftoverRow](ctx, db, allLeftovers, orgID)
	left := make(map[string]string, len(rows))
	for _, row := range rows {
		left[row.Name] = row.AttributeID
	}
	return left, err
}

// changeRegistry runs f in a transaction that excludes writes to contacts of the
// organization.
func changeRegistry(ctx context.Context, db *engine.DB, orgID string, f func(ctx context.Context, r *slots.Registry) error) error {
	return db.InTx(ctx, func(ctx context.Context) error {
		r, err := slots.HoldRegistry(ctx, db, orgID)
		if err != nil {
			return err
		}
		if err := f(ctx, r); err != nil {
			return err
		}
		return assignSlots(ctx, db, orgID)
	})
}

// InsertAttribute adopts the values that a deleted attribute of this name has left; a
// pass then converts them to the type.
func (s Store) InsertAttribute(ctx context.Context, orgID string, a attributes.Attribute) error {
	enumValues, err := engine.JSONParameter(a.EnumValues)
	if err != nil {
		return err
	}
	taken := core.Conflict("An attribute of this organization has this name already.", "Choose another name, or use the one there is.")
	return changeRegistry(ctx, s.db, orgID, func(ctx context.Context, r *slots.Registry) error {
		left, err := leftovers(ctx, s.db, orgID)
		if err != nil {
			return err
		}
		if left[a.Name] != "" {
			return stillMoving(a.Name)
		}
		_, adopts := left[a.Name]
		err = s.db.Insert(ctx, taken, insertAttribute, orgID, a.ID, a.Name, string(a.Type), enumValues, a.Description,
			string(a.Origin), engine.At(a.CreatedAt), engine.At(a.UpdatedAt), "", "", adopts)
		if err != nil || !adopts {
			return err
		}
		if _, err := s.db.Exec(ctx, deleteLeftover, orgID, a.Name); err != nil {
			return err
		}
		return queuePass(ctx, s.db, orgID)
	})
}

// movingPause is the RetryAfter of a call that needs a name whose values are still being
// moved.
const movingPause = 30 * time.Second

// stillMoving returns the conflict of a name whose values a pass still moves, with the
// time after which to try again.
func stillMoving(name string) error {
	e := core.Conflict("Contacts' values are still moving from the name "+core.Quote(name)+" to the new name of their attribute.",
		"Try again in a minute, or choose another name.")
	e.RetryAfter = movingPause
	return e
}

// UpdateAttribute queues a pass if the name or the stored form changes. Other changes
// concern no contact.
func (s Store) UpdateAttribute(ctx context.Context, orgID string, a attributes.Attribute) error {
	enumValues, err := engine.JSONParameter(a.EnumValues)
	if err != nil {
		return err
	}
	return changeRegistry(ctx, s.db, orgID, func(ctx context.Context, r *slots.Registry) error {
		i := slices.IndexFunc(r.Rows, func(row slots.AttributeRow) bool { return row.ID == a.ID })
		if i < 0 {
			return core.NotFound("attribute")
		}
		row := r.Rows[i]
		before, err := row.Attribute()
		if err != nil {
			return err
		}
		if before.Name != a.Name {
			if err := s.rename(ctx, orgID, r, before, a.Name); err != nil {
				return err
			}
		}
		if !before.StoredLike(a) {
			row.Slot, row.Filling, row.Recast = "", "", true
			if err := queuePass(ctx, s.db, orgID); err != nil {
				return err
			}
		}
		return s.db.Change(ctx, "attribute", updateAttribute, a.Name, string(a.Type), enumValues, a.Description, engine.At(a.UpdatedAt),
			row.Slot, row.Filling, row.Recast, orgID, a.ID)
	})
}

// rename makes the values of an attribute follow it to another name. It returns a
// conflict if the name is taken.
func (s Store) rename(ctx context.Context, orgID string, r *slots.Registry, a attributes.Attribute, name string) error {
	if _, taken := r.Attributes[name]; taken {
		return core.Conflict("An attribute of this organization has this name already.", "Choose another name.")
	}
	left, err := leftovers(ctx, s.db, orgID)
	if err != nil {
		return err
	}
	switch id, is := left[name]; {
	case !is:
	case id == "":
		stands, err := engine.Values[int](ctx, s.db, valueStands, orgID, name)
		if err != nil {
			return err
		}
		if len(stands) > 0 {
			return core.Conflict("Contacts have values of a deleted attribute of this name, which the values of this one would replace.",
				"Choose another name, or create an attribute of this name to have the values back.")
		}
	case id != a.ID:
		return stillMoving(name)
	}
	if _, err := s.db.Exec(ctx, deleteLeftover, orgID, name); err != nil {
		return err
	}
	if _, err := s.db.Exec(ctx, insertLeftover, orgID, a.Name, a.ID); err != nil {
		return err
	}
	return queuePass(ctx, s.db, orgID)
}

// DeleteAttribute leaves the values in the records of contacts. The pass clears only the
// freed slot.
func (s Store) DeleteAttribute(ctx context.Context, orgID, id string) error {
	return changeRegistry(ctx, s.db, orgID, func(ctx context.Context, r *slots.Registry) error {
		i := slices.IndexFunc(r.Rows, func(row slots.AttributeRow) bool { return row.ID == id })
		if i < 0 {
			return core.NotFound("attribute")
		}
		if err := s.db.Change(ctx, "attribute", deleteAttribute, orgID, id); err != nil {
			return err
		}
		if _, err := s.db.Exec(ctx, abandonLeftover, orgID, id); err != nil {
			return err
		}
		if _, err := s.db.Exec(ctx, insertLeftover, orgID, r.Rows[i].Name, ""); err != nil {
			return err
		}
		return queuePass(ctx, s.db, orgID)
	})
}
