package audience

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
)

// PreviewAttributeIn is what the attribute might become.
type PreviewAttributeIn struct {
	ID string `json:"id" jsonschema:"maxLength=64" jsonschema_description:"Id of the attribute."`
	AttributeDefinition
}

func (a *Audience) attributesPreview() core.Operation {
	return core.Declare(core.Op[PreviewAttributeIn, AttributeEffect]{
		Name:    "attributes_preview",
		Title:   "Preview a change of an attribute",
		Purpose: "Says what a change of an attribute would do to segments and contacts. It changes nothing.",
		Effect:  core.Reads,
		Cost:    core.Heavy,
		Scopes:  []core.Scope{core.AttributesManage},
		Do:      a.previewAttribute,
	})
}

func (a *Audience) previewAttribute(ctx context.Context, c *core.Call, in PreviewAttributeIn) (AttributeEffect, error) {
	if err := in.check(); err != nil {
		return AttributeEffect{}, err
	}
	org := c.Principal.Org.ID
	before, err := a.Store.Attribute(ctx, org, in.ID)
	if err != nil {
		return AttributeEffect{}, err
	}
	after := in.over(before)
	change := changeOf(before, &after)
	change.Preview = true
	impact, err := a.impact(ctx, org, change, nil)
	return AttributeEffect{change.Class, impact}, err
}
