package storage

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/attributes"
	"github.com/mailhelm/mailhelm/storage/engine"
)

var _ attributes.Store = attributeStore{}

// Attributes returns the store of the attribute registry.
func (db *DB) Attributes() attributes.Store { return attributeStore{db.DB} }

type attributeRow struct {
	ID          string          `db:"id"`
	Name        string          `db:"name"`
	Type        attributes.Type `db:"type"`
	EnumValues  string          `db:"enum_values"`
	Description string          `db:"description"`
	Origin      core.Origin     `db:"origin"`
	CreatedAt   engine.Time     `db:"created_at"`
	UpdatedAt   engine.Time     `db:"updated_at"`
	Slot        string          `db:"slot"`
	Filling     string          `db:"filling"`
	Recast      bool            `db:"recast"`
}

const attributeColumns = `id, name, type, enum_values, description, origin, created_at, updated_at, slot, filling, recast`

var (
	insertAttribute = engine.Register("insert attribute", `
		INSERT INTO attributes (org_id, `+attributeColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
		ON CONFLICT DO NOTHING`)
	allAttributes = engine.RegisterPoint("attributes", `
		SELECT `+attributeColumns+` FROM attributes WHERE org_id = $1 ORDER BY name`)
	attributesPage = engine.Register("attributes page", `
		SELECT `+attributeColumns+` FROM attributes WHERE org_id = $1 AND (created_at, id) < ($2, $3)
		ORDER BY created_at DESC, id DESC LIMIT $4`)
	attributeByID = engine.RegisterPoint("attribute by id", `
		SELECT `+attributeColumns+` FROM attributes WHERE org_id = $1 AND id = $2`)
	countAttributes = engine.RegisterPoint("count attributes", `SELECT count(*) FROM attributes WHERE org_id = $1`)
	updateAttribute = engine.Register("update attribute", `
		UPDATE attributes SET name = $1, type = $2, enum_values = $3, description = $4, updated_at = $5, slot = $6, filling = $7, recast = $8
		WHERE org_id = $9 AND id = $10`)
	deleteAttribute = engine.Register("delete attribute", `DELETE FROM attributes WHERE org_id = $1 AND id = $2`)

	// The caller has checked the names: SQLite would read others as paths.
	attributeValues = engine.Register("values of an attribute", `
		SELECT v.value, count(*) AS contacts FROM (
			SELECT CAST(c.attributes/*pg ::json*/ -> $1 AS text) AS value FROM contacts AS c
			WHERE c.org_id = $2 AND c.status = 'active') AS v
		WHERE v.value IS NOT NULL GROUP BY v.value`)
)

// attributeStore stores the registry of attributes and passes its changes on to contacts.
type attributeStore struct{ db *engine.DB }

func (s attributeStore) Attributes(ctx context.Context, orgID string) ([]attributes.Attribute, error) {
	return s.attributes(ctx, allAttributes, orgID)
}

func (s attributeStore) AttributePage(ctx context.Context, orgID string, after *core.After, limit int) ([]attributes.Attribute, error) {
	created, id := engine.PageStart(after)
	return s.attributes(ctx, attributesPage, orgID, created, id, limit)
}

func (s attributeStore) Attribute(ctx context.Context, orgID, id string) (attributes.Attribute, error) {
	row, err := engine.One[attributeRow](ctx, s.db, "attribute", attributeByID, orgID, id)
	if err != nil {
		return attributes.Attribute{}, err
	}
	return row.attribute()
}

func (s attributeStore) CountAttributes(ctx context.Context, orgID string) (int, error) {
	counts, err := engine.Values[int](ctx, s.db, countAttributes, orgID)
	if err != nil {
		return 0, err
	}
	return counts[0], nil
}

func (s attributeStore) attributes(ctx context.Context, by *engine.Statement, args ...any) ([]attributes.Attribute, error) {
	rows, err := engine.List[attributeRow](ctx, s.db, by, args...)
	if err != nil {
		return nil, err
	}
	all := make([]attributes.Attribute, len(rows))
	for i, row := range rows {
		if all[i], err = row.attribute(); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func (r attributeRow) attribute() (attributes.Attribute, error) {
	a := attributes.Attribute{
		ID: r.ID, Name: r.Name, Type: r.Type, Description: r.Description, Origin: r.Origin,
		CreatedAt: r.CreatedAt.Time(), UpdatedAt: r.UpdatedAt.Time(), Slot: r.Slot,
	}
	if r.Type != attributes.Enum {
		return a, nil
	}
	if err := json.Unmarshal([]byte(r.EnumValues), &a.EnumValues); err != nil {
		return a, fmt.Errorf("storage: values of attribute %s: %w", r.ID, err)
	}
	return a, nil
}

type attributeValueRow struct {
	Value    string `db:"value"`
	Contacts int    `db:"contacts"`
}

func (s attributeStore) AttributeValues(ctx context.Context, orgID string, a attributes.Attribute, f func(value any, contacts int)) error {
	names := []string{a.Name}
	leftovers, err := s.leftovers(ctx, orgID)
	if err != nil {
		return err
	}
	for name, id := range leftovers {
		if id == a.ID {
			names = append(names, name)
		}
	}
	for _, name := range names {
		rows, err := engine.List[attributeValueRow](ctx, s.db, attributeValues, name, orgID)
		if err != nil {
			return err
		}
		for _, row := range rows {
			var value any
			if err := json.Unmarshal([]byte(row.Value), &value); err != nil {
				return fmt.Errorf("storage: a value of attribute %s: %w", a.ID, err)
			}
			f(value, row.Contacts)
		}
	}
	return nil
}
