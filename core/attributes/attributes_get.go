package attributes

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
)

// GetAttributeIn has the id of the attribute to read.
type GetAttributeIn struct {
	ID string `json:"id" jsonschema:"maxLength=64" jsonschema_description:"Id of the attribute."`
}

func (a *Attributes) attributesGet() core.Operation {
	return core.Declare(core.Op[GetAttributeIn, Attribute]{
		Name:    "attributes_get",
		Title:   "Read an attribute",
		Purpose: "Reads one registered attribute.",
		Example: `{"id": "0198c7a2-5d3e-7a01-8b00-2f61c0d4a101"}`,
		Effect:  core.Reads,
		Cost:    core.Light,
		Scopes:  []core.Scope{core.AttributesView},
		Fails:   []core.Code{core.CodeNotFound},
		Do: func(ctx context.Context, c *core.Call, in GetAttributeIn) (Attribute, error) {
			return a.Store.Attribute(ctx, c.Principal.Org.ID, in.ID)
		},
	})
}
