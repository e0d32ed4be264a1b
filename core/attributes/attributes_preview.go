package attributes

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
)

// PreviewAttributeIn has the id of an attribute and the new definition whose effects are
// previewed.
type PreviewAttributeIn struct {
	ID string `json:"id" jsonschema:"maxLength=64" jsonschema_description:"Id of the attribute."`
	Definition
}

func (a *Attributes) attributesPreview() core.Operation {
	return core.Declare(core.Op[PreviewAttributeIn, Effect]{
		Name:    "attributes_preview",
		Title:   "Preview a change to an attribute",
		Purpose: "Returns the effects that a change to an attribute would have on segments and contacts. It changes nothing.",
		Example: `{"id": "0198c7a2-5d3e-7a01-8b00-2f61c0d4a101", "name": "town", "type": "string"}`,
		Effect:  core.Reads,
		Cost:    core.Heavy,
		Scopes:  []core.Scope{core.AttributesManage},
		Fails:   []core.Code{core.CodeNotFound},
		Do:      a.previewAttribute,
	})
}

func (a *Attributes) previewAttribute(ctx context.Context, c *core.Call, in PreviewAttributeIn) (Effect, error) {
	if err := in.check(); err != nil {
		return Effect{}, err
	}
	org := c.Principal.Org.ID
	before, err := a.Store.Attribute(ctx, org, in.ID)
	if err != nil {
		return Effect{}, err
	}
	after := in.applyTo(before)
	change := classify(before, &after)
	change.Preview = true
	impact, err := a.assess(ctx, org, change, nil)
	return Effect{change.Class, impact}, err
}

// PreviewDelete returns the effects that deleting an attribute would have, and changes
// nothing. It fails with core.CodeNotFound if there is no such attribute. It reads all
// contacts of the organization. The dashboard calls it before a person deletes an attribute.
func (a *Attributes) PreviewDelete(ctx context.Context, orgID, id string) (Effect, error) {
	before, err := a.Store.Attribute(ctx, orgID, id)
	if err != nil {
		return Effect{}, err
	}
	change := classify(before, nil)
	change.Preview = true
	impact, err := a.assess(ctx, orgID, change, nil)
	return Effect{change.Class, impact}, err
}
