package storage

import (
	"context"
	"slices"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/attributes"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// Writes to contacts hold a shared lock on the registry; changes of the registry hold it
// exclusively. When a change has the lock, every contact written by the earlier registry
// is committed, so that the pass finds it. A contact's row is always locked before the
// registry, never after. SQLite has one writer and needs no lock.
var (
	shareRegistry = engine.Register("share registry", `
		SELECT 1 WHERE CAST($1 AS text) <> '' /*pg AND CAST(pg_advisory_xact_lock_shared(hashtextextended($1, 19)) AS text) = ''*/`)
	holdRegistry = engine.Register("hold registry", `
		SELECT 1 WHERE CAST($1 AS text) <> '' /*pg AND CAST(pg_advisory_xact_lock(hashtextextended($1, 19)) AS text) = ''*/`)

	// registryOf reads the attributes, and the names that attributes left, with the
	// attribute of each.
	registryOf = engine.RegisterPoint("registry", `
		SELECT `+attributeColumns+`, FALSE AS left_behind FROM attributes WHERE org_id = $1
		UNION ALL SELECT attribute_id, name, '', '', '', '', 0, 0, '', '', FALSE, TRUE FROM attribute_leftovers WHERE org_id = $1`)
	allLeftovers   = engine.RegisterPoint("leftovers", `SELECT name, attribute_id FROM attribute_leftovers WHERE org_id = $1`)
	insertLeftover = engine.Register("insert leftover", `
		INSERT INTO attribute_leftovers (org_id, name, attribute_id) VALUES ($1, $2, $3)
		ON CONFLICT (org_id, name) DO UPDATE SET attribute_id = excluded.attribute_id`)
	deleteLeftover  = engine.Register("delete leftover", `DELETE FROM attribute_leftovers WHERE org_id = $1 AND name = $2`)
	abandonLeftover = engine.Register("abandon leftovers", `
		UPDATE attribute_leftovers SET attribute_id = '' WHERE org_id = $1 AND attribute_id = $2`)
	valueStands = engine.Register("value stands", `
		SELECT 1 FROM contacts WHERE org_id = $1 AND (attributes/*pg ::json*/ -> $2) IS NOT NULL LIMIT 1`)
)

// registry is the attributes of an organization in the form that writes to contacts use.
type registry struct {
	rows       []attributeRow
	attributes map[string]attributes.Attribute // by name
	moved      map[string]string               // old names of values, with their new names
	exceptions []attributes.Exception
}

// knownRegistries holds the registries that the transaction has read, by organization.
var knownRegistries engine.TxMemory[map[string]*registry]

type registryRow struct {
	attributeRow
	LeftBehind bool `db:"left_behind"`
}

type leftoverRow struct {
	Name        string `db:"name"`
	AttributeID string `db:"attribute_id"`
}

// leftovers returns the ids of attributes by the names that they left. The id is "" for a
// deleted attribute.
func (s attributeStore) leftovers(ctx context.Context, orgID string) (map[string]string, error) {
	rows, err := engine.List[leftoverRow](ctx, s.db, allLeftovers, orgID)
	left := make(map[string]string, len(rows))
	for _, row := range rows {
		left[row.Name] = row.AttributeID
	}
	return left, err
}

// registry returns the registry, which stays unchanged until the transaction ends. It
// reads the registry once for each transaction.
func (s attributeStore) registry(ctx context.Context, orgID string) (*registry, error) {
	known := knownRegistries.Of(ctx, s.db)
	if r := (*known)[orgID]; r != nil {
		return r, nil
	}
	if s.db.Dialect() == engine.PostgreSQL {
		if _, err := engine.Values[int](ctx, s.db, shareRegistry, orgID); err != nil {
			return nil, err
		}
	}
	r, err := s.readRegistry(ctx, orgID)
	if err != nil {
		return nil, err
	}
	if *known == nil {
		*known = map[string]*registry{}
	}
	(*known)[orgID] = r
	return r, nil
}

func (s attributeStore) readRegistry(ctx context.Context, orgID string) (*registry, error) {
	rows, err := engine.List[registryRow](ctx, s.db, registryOf, orgID)
	if err != nil {
		return nil, err
	}
	r := &registry{attributes: make(map[string]attributes.Attribute, len(rows)), moved: map[string]string{}}
	nameOf := make(map[string]string, len(rows))
	for _, row := range rows {
		if row.LeftBehind {
			continue
		}
		r.rows = append(r.rows, row.attributeRow)
		if r.attributes[row.Name], err = row.attribute(); err != nil {
			return nil, err
		}
		nameOf[row.ID] = row.Name
	}
	for _, row := range rows {
		switch {
		case row.LeftBehind:
			if row.ID != "" {
				r.moved[row.Name] = nameOf[row.ID]
			}
			r.exceptions = append(r.exceptions, attributes.Exception{Name: row.Name, Present: nameOf[row.ID]})
		case row.Recast:
			r.exceptions = append(r.exceptions, attributes.Exception{Name: row.Name, Present: row.Name, Type: row.Type})
		}
	}
	return r, nil
}

// changeRegistry runs f in a transaction that excludes writes to contacts of the
// organization.
func (s attributeStore) changeRegistry(ctx context.Context, orgID string, f func(ctx context.Context, r *registry) error) error {
	return s.db.InTx(ctx, func(ctx context.Context) error {
		if s.db.Dialect() == engine.PostgreSQL {
			if _, err := engine.Values[int](ctx, s.db, holdRegistry, orgID); err != nil {
				return err
			}
		}
		delete(*knownRegistries.Of(ctx, s.db), orgID)
		r, err := s.readRegistry(ctx, orgID)
		if err != nil {
			return err
		}
		if err := f(ctx, r); err != nil {
			return err
		}
		return s.assignSlots(ctx, orgID)
	})
}

func (s attributeStore) InsertAttribute(ctx context.Context, orgID string, a attributes.Attribute) error {
	enumValues, err := engine.JSONParameter(a.EnumValues)
	if err != nil {
		return err
	}
	taken := core.Conflict("An attribute of this organization has this name already.", "Choose another name, or use the one there is.")
	return s.changeRegistry(ctx, orgID, func(ctx context.Context, r *registry) error {
		left, err := s.leftovers(ctx, orgID)
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
		return s.queuePass(ctx, orgID)
	})
}

func stillMoving(name string) error {
	e := core.Conflict("Contacts' values are still moving from the name "+core.Quoted(name)+" to the new name of their attribute.",
		"Try again in a minute, or choose another name.")
	e.RetryAfter = movingPause
	return e
}

func (s attributeStore) UpdateAttribute(ctx context.Context, orgID string, a attributes.Attribute) error {
	enumValues, err := engine.JSONParameter(a.EnumValues)
	if err != nil {
		return err
	}
	return s.changeRegistry(ctx, orgID, func(ctx context.Context, r *registry) error {
		i := slices.IndexFunc(r.rows, func(row attributeRow) bool { return row.ID == a.ID })
		if i < 0 {
			return core.NotFound("attribute")
		}
		row := r.rows[i]
		before, err := row.attribute()
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
			if err := s.queuePass(ctx, orgID); err != nil {
				return err
			}
		}
		return s.db.Change(ctx, "attribute", updateAttribute, a.Name, string(a.Type), enumValues, a.Description, engine.At(a.UpdatedAt),
			row.Slot, row.Filling, row.Recast, orgID, a.ID)
	})
}

// rename makes the values of an attribute follow it to another name. It returns a
// conflict if the name is taken.
func (s attributeStore) rename(ctx context.Context, orgID string, r *registry, a attributes.Attribute, name string) error {
	if _, taken := r.attributes[name]; taken {
		return core.Conflict("An attribute of this organization has this name already.", "Choose another name.")
	}
	left, err := s.leftovers(ctx, orgID)
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
	return s.queuePass(ctx, orgID)
}

func (s attributeStore) DeleteAttribute(ctx context.Context, orgID, id string) error {
	return s.changeRegistry(ctx, orgID, func(ctx context.Context, r *registry) error {
		i := slices.IndexFunc(r.rows, func(row attributeRow) bool { return row.ID == id })
		if i < 0 {
			return core.NotFound("attribute")
		}
		if err := s.db.Change(ctx, "attribute", deleteAttribute, orgID, id); err != nil {
			return err
		}
		if _, err := s.db.Exec(ctx, abandonLeftover, orgID, id); err != nil {
			return err
		}
		if _, err := s.db.Exec(ctx, insertLeftover, orgID, r.rows[i].Name, ""); err != nil {
			return err
		}
		return s.queuePass(ctx, orgID)
	})
}
