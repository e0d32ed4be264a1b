package attributes

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/attributes"
	"github.com/mailhelm/mailhelm/storage/engine"
	"github.com/mailhelm/mailhelm/storage/slots"
)

// Store stores the attribute definitions of organizations. The definitions of one
// organization are its registry.
type Store struct{ db *engine.DB }

var _ attributes.Store = Store{}

// New returns the store of attribute definitions on the database.
func New(db *engine.DB) Store { return Store{db} }

var (
	// insertAttribute changes nothing if the name is taken. It leaves the columns slot and
	// filling empty; assignSlots sets one of them in the same transaction.
	insertAttribute = engine.Register("insert attribute", `
		INSERT INTO attributes (org_id, `+slots.AttributeColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
		ON CONFLICT DO NOTHING`)
	// allAttributes selects all attribute definitions of an organization.
	allAttributes = engine.RegisterPoint("attributes", `
		SELECT `+slots.AttributeColumns+` FROM attributes WHERE org_id = $1 ORDER BY name`)
	// attributesPage selects a page of attributes after the cursor, newest first, through
	// the index attributes_newest.
	attributesPage = engine.Register("attributes page", `
		SELECT `+slots.AttributeColumns+` FROM attributes WHERE org_id = $1 AND (created_at, id) < ($2, $3)
		ORDER BY created_at DESC, id DESC LIMIT $4`)
	attributeByID = engine.RegisterPoint("attribute by id", `
		SELECT `+slots.AttributeColumns+` FROM attributes WHERE org_id = $1 AND id = $2`)
	// attributesNamed selects the attributes with the names in the JSON array $2. It runs for
	// every write of a contact, because values are validated against the definitions.
	attributesNamed = engine.RegisterPoint("attributes of names", `
		SELECT `+slots.AttributeColumns+` FROM attributes WHERE org_id = $1
		AND name IN (SELECT j.atom FROM json_each(CAST($2 AS text)) AS j)`)
	countAttributes = engine.RegisterPoint("count attributes", `SELECT count(*) FROM attributes WHERE org_id = $1`)
	// updateAttribute changes an attribute. The column slot names the attribute's column of
	// contact_slots. If the type changes, the caller passes "" as the slot, because the
	// values in the contact_slots column have the old type.
	updateAttribute = engine.Register("update attribute", `
		UPDATE attributes SET name = $1, type = $2, enum_values = $3, description = $4, updated_at = $5, slot = $6, filling = $7, recast = $8
		WHERE org_id = $9 AND id = $10`)
	// deleteAttribute frees the attribute's column of contact_slots. The values in that
	// column remain stored until a pass over the contacts has cleared them.
	deleteAttribute = engine.Register("delete attribute", `DELETE FROM attributes WHERE org_id = $1 AND id = $2`)
)

func (s Store) Attributes(ctx context.Context, orgID string) ([]attributes.Attribute, error) {
	return list(ctx, s.db, allAttributes, orgID)
}

func (s Store) AttributesNamed(ctx context.Context, orgID string, names []string) ([]attributes.Attribute, error) {
	parameter, err := engine.JSONParameter(names)
	if err != nil {
		return nil, err
	}
	return list(ctx, s.db, attributesNamed, orgID, parameter)
}

func (s Store) AttributePage(ctx context.Context, orgID string, after *core.After, limit int) ([]attributes.Attribute, error) {
	created, id := engine.PageStart(after)
	return list(ctx, s.db, attributesPage, orgID, created, id, limit)
}

func (s Store) Attribute(ctx context.Context, orgID, id string) (attributes.Attribute, error) {
	row, err := engine.One[slots.AttributeRow](ctx, s.db, "attribute", attributeByID, orgID, id)
	if err != nil {
		return attributes.Attribute{}, err
	}
	return row.Attribute()
}

func (s Store) CountAttributes(ctx context.Context, orgID string) (int, error) {
	counts, err := engine.Values[int](ctx, s.db, countAttributes, orgID)
	if err != nil {
		return 0, err
	}
	return counts[0], nil
}

// list returns the attributes that the statement selects, in the order of the statement.
func list(ctx context.Context, db *engine.DB, by *engine.Statement, args ...any) ([]attributes.Attribute, error) {
	return engine.ListParsed(ctx, db, slots.AttributeRow.Attribute, by, args...)
}
