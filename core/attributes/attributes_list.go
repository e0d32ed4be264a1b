package attributes

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
)

// ListAttributesIn has the size and cursor of a page of registered attributes.
type ListAttributesIn struct {
	Limit  int    `json:"limit,omitempty" jsonschema:"minimum=1,maximum=200,default=50" jsonschema_description:"Greatest number of items in the answer."`
	Cursor string `json:"cursor,omitempty" jsonschema:"maxLength=1024" jsonschema_description:"Cursor: next_cursor of the previous page."`
}

func (a *Attributes) attributesList() core.Operation {
	return core.Declare(core.Op[ListAttributesIn, core.Page[Attribute]]{
		Name:    "attributes_list",
		Title:   "List attributes",
		Purpose: "Pages through the registered attributes of contacts, newest first.",
		Example: `{"limit": 2}`,
		Effect:  core.Reads,
		Cost:    core.Light,
		Scopes:  []core.Scope{core.AttributesView},
		Do:      a.listAttributes,
	})
}

func (a *Attributes) listAttributes(ctx context.Context, c *core.Call, in ListAttributesIn) (core.Page[Attribute], error) {
	return core.ReadPage("attributes", in.Cursor, in.Limit, func(after *core.After, limit int) ([]Attribute, error) {
		return a.Store.AttributePage(ctx, c.Principal.Org.ID, after, limit)
	}, func(at Attribute) core.After { return core.After{At: at.CreatedAt, ID: at.ID} })
}
