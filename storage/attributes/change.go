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
	// allLeftovers reads the former names of renamed and deleted attributes under which
	// contacts may still have values ("leftovers").
	allLeftovers = engine.RegisterPoint("leftovers", `SELECT name, attribute_id FROM attribute_leftovers WHERE org_id = $1`)
	// insertLeftover stores a former name of an attribute with the attribute's id. If the
	// name is stored already, it replaces the id that is stored with the name.
	insertLeftover = engine.Register("insert leftover", `
		INSERT INTO attribute_leftovers (org_id, name, attribute_id) VALUES ($1, $2, $3)
		ON CONFLICT (org_id, name) DO UPDATE SET attribute_id = excluded.attribute_id`)
	// deleteLeftover deletes a former name of an attribute from attribute_leftovers, because
	// an attribute has this name again.
	deleteLeftover = engine.Register("delete leftover", `DELETE FROM attribute_leftovers WHERE org_id = $1 AND name = $2`)
	// abandonLeftover keeps the former names of a deleted attribute but removes the
	// attribute's id from them. Reads still hide the values under these names.
	abandonLeftover = engine.Register("abandon leftovers", `
		UPDATE attribute_leftovers SET attribute_id = '' WHERE org_id = $1 AND attribute_id = $2`)
	// valueStands returns a row if any contact has a value under the attribute name. It may
	// read all contacts; it runs only for a rename to the name of a deleted attribute.
	valueStands = engine.Register("value stands", `
		SELECT 1 FROM contacts WHERE org_id = $1 AND (attributes/*pg ::json*/ -> $2) IS NOT NULL LIMIT 1`)
)

// leftoverRow is a former name of an attribute. AttributeID is "" if the attribute was
// deleted.
type leftoverRow struct {
	Name        string `db:"name"`
	AttributeID string `db:"attribute_id"`
}

// leftovers returns the former names of attributes with the id of their attribute, or ""
// for a deleted attribute.
func leftovers(ctx context.Context, db *engine.DB, orgID string) (map[string]string, error) {
	rows, err := engine.List[leftoverRow](ctx, db, allLeftovers, orgID)
	ids := make(map[string]string, len(rows))
	for _, row := range rows {
		ids[row.Name] = row.AttributeID
	}
	return ids, err
}

// changeRegistry calls f with the attribute definitions, in a transaction that blocks
// writes to contacts of the organization. It then assigns columns of contact_slots to
// attributes without one.
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

// InsertAttribute stores an attribute. Values that contacts still have of a deleted
// attribute with the same name become values of the new attribute. A background pass over
// the contacts converts those that fit its type, and keeps the others. InsertAttribute
// fails with Conflict if the name is taken, or if a pass is still moving values from this
// name to another.
func (s Store) InsertAttribute(ctx context.Context, orgID string, a attributes.Attribute) error {
	enumValues, err := engine.JSONParameter(a.EnumValues)
	if err != nil {
		return err
	}
	taken := core.Conflict("An attribute of this organization has this name already.", "Choose another name, or use the existing attribute.")
	return changeRegistry(ctx, s.db, orgID, func(ctx context.Context, r *slots.Registry) error {
		former, err := leftovers(ctx, s.db, orgID)
		if err != nil {
			return err
		}
		if former[a.Name] != "" {
			return stillMovingError(a.Name)
		}
		_, adopts := former[a.Name]
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

// movingPause is the RetryAfter of the Conflict error for a name from which a pass over the
// contacts is still moving values.
const movingPause = 30 * time.Second

// stillMovingError returns the Conflict error for a former attribute name. A job is still
// moving the contacts' values from this name to the attribute's new name. RetryAfter of the
// error is movingPause.
func stillMovingError(name string) error {
	e := core.Conflict("Values of contacts are still being moved from the name "+core.Quote(name)+" to the new name of their attribute.",
		"Try again in a minute, or choose another name.")
	e.RetryAfter = movingPause
	return e
}

// UpdateAttribute changes an attribute definition. It queues a conversion of the stored
// contacts if the name changes, or if the change alters how values are stored, such as
// another type.
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

// rename stores the old name as a former name, and queues a pass over the contacts, which
// moves their values to the new name. It fails with Conflict if another attribute has the
// new name. It also fails with Conflict if contacts have values of a deleted attribute
// under the new name, or while a pass moves another attribute's values away from the new
// name.
func (s Store) rename(ctx context.Context, orgID string, r *slots.Registry, a attributes.Attribute, name string) error {
	if _, taken := r.Attributes[name]; taken {
		return core.Conflict("An attribute of this organization has this name already.", "Choose another name.")
	}
	former, err := leftovers(ctx, s.db, orgID)
	if err != nil {
		return err
	}
	switch id, is := former[name]; {
	case !is:
	case id == "":
		stands, err := engine.Values[int](ctx, s.db, valueStands, orgID, name)
		if err != nil {
			return err
		}
		if len(stands) > 0 {
			return core.Conflict("Contacts have values of a deleted attribute of this name, which the values of this one would replace.",
				"Choose another name, or create an attribute of this name to restore the values.")
		}
	case id != a.ID:
		return stillMovingError(name)
	}
	if _, err := s.db.Exec(ctx, deleteLeftover, orgID, name); err != nil {
		return err
	}
	if _, err := s.db.Exec(ctx, insertLeftover, orgID, a.Name, a.ID); err != nil {
		return err
	}
	return queuePass(ctx, s.db, orgID)
}

// DeleteAttribute deletes a definition and leaves its values in the contact records. The
// pass over the contacts that follows clears only the attribute's column of contact_slots.
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
