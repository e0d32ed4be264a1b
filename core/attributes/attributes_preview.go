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
		Effect:  core.Reads,
		Cost:    core.Heavy,
		Scopes:  []core.Scope{core.AttributesManage},
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
