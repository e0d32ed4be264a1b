package activities

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
)

// ListPropertiesIn has the size and cursor of a page of promoted properties.
type ListPropertiesIn struct {
	Limit  int    `json:"limit,omitempty" jsonschema:"minimum=1,maximum=200,default=50" jsonschema_description:"Greatest number of items in the answer."`
	Cursor string `json:"cursor,omitempty" jsonschema:"maxLength=1024" jsonschema_description:"Cursor: next_cursor of the previous page."`
}

func (o propertyOperations) propertiesList() core.Operation {
	return core.Declare(core.Op[ListPropertiesIn, core.Page[Property]]{
		Name:    "activity_properties_list",
		Title:   "List activity properties",
		Purpose: "Pages through the properties of activities that predicates can test, newest first.",
		Example: `{"limit": 2}`,
		Effect:  core.Reads,
		Cost:    core.Light,
		Scopes:  []core.Scope{core.ActivitiesView},
		Do:      o.listProperties,
	})
}

func (o propertyOperations) listProperties(ctx context.Context, c *core.Call, in ListPropertiesIn) (core.Page[Property], error) {
	return core.ReadPage("activity properties", in.Cursor, in.Limit, func(after *core.After, limit int) ([]Property, error) {
		return o.Properties.PropertyPage(ctx, c.Principal.Org.ID, after, limit)
	}, func(p Property) core.After { return core.After{At: p.CreatedAt, ID: p.ID} })
}

func (o propertyOperations) propertiesGet() core.Operation {
	return core.Declare(core.Op[IDIn, Property]{
		Name:    "activity_properties_get",
		Title:   "Read an activity property",
		Purpose: "Reads one property of activities that predicates can test.",
		Example: `{"id": "0198c7a2-5d3e-7a01-8b00-2f61c0d4a102"}`,
		Effect:  core.Reads,
		Cost:    core.Light,
		Scopes:  []core.Scope{core.ActivitiesView},
		Fails:   []core.Code{core.CodeNotFound},
		Do: func(ctx context.Context, c *core.Call, in IDIn) (Property, error) {
			return o.Properties.Property(ctx, c.Principal.Org.ID, in.ID)
		},
	})
}
