package storage

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/audience"
)

type attributeRow struct {
	ID          string                 `db:"id"`
	Name        string                 `db:"name"`
	Type        audience.AttributeType `db:"type"`
	EnumValues  string                 `db:"enum_values"`
	Description string                 `db:"description"`
	Origin      audience.Origin        `db:"origin"`
	CreatedAt   Time                   `db:"created_at"`
	UpdatedAt   Time                   `db:"updated_at"`
}

const attributeColumns = `id, name, type, enum_values, description, origin, created_at, updated_at`

var (
	insertAttribute = register("insert attribute", `
		INSERT INTO attributes (org_id, `+attributeColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
		ON CONFLICT DO NOTHING`)
	allAttributes = registerPoint("attributes", `
		SELECT `+attributeColumns+` FROM attributes WHERE org_id = $1 ORDER BY name`)
	attributesPage = register("attributes page", `
		SELECT `+attributeColumns+` FROM attributes WHERE org_id = $1 AND (created_at, id) < ($2, $3)
		ORDER BY created_at DESC, id DESC LIMIT $4`)
)

func (s audienceStore) InsertAttribute(ctx context.Context, orgID string, a audience.Attribute) error {
	enumValues, err := jsonParameter(a.EnumValues)
	if err != nil {
		return err
	}
	taken := core.Conflict("An attribute of this organization has this name already.", "Choose another name, or use the one there is.")
	return s.db.insert(ctx, taken, insertAttribute, orgID, a.ID, a.Name, string(a.Type), enumValues, a.Description,
		string(a.Origin), At(a.CreatedAt), At(a.UpdatedAt))
}

func (s audienceStore) Attributes(ctx context.Context, orgID string) ([]audience.Attribute, error) {
	return s.attributes(ctx, allAttributes, orgID)
}

func (s audienceStore) AttributePage(ctx context.Context, orgID string, after *core.After, limit int) ([]audience.Attribute, error) {
	created, id := start(after)
	return s.attributes(ctx, attributesPage, orgID, created, id, limit)
}

func (s audienceStore) attributes(ctx context.Context, by *Statement, args ...any) ([]audience.Attribute, error) {
	rows, err := list[attributeRow](ctx, s.db, by, args...)
	if err != nil {
		return nil, err
	}
	all := make([]audience.Attribute, len(rows))
	for i, r := range rows {
		all[i] = audience.Attribute{
			ID: r.ID, Name: r.Name, Type: r.Type, Description: r.Description, Origin: r.Origin,
			CreatedAt: r.CreatedAt.Time(), UpdatedAt: r.UpdatedAt.Time(),
		}
		if r.Type != audience.EnumAttribute {
			continue
		}
		if err := json.Unmarshal([]byte(r.EnumValues), &all[i].EnumValues); err != nil {
			return nil, fmt.Errorf("storage: values of attribute %s: %w", r.ID, err)
		}
	}
	return all, nil
}
