package audience

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
)

// UpdateAttributeIn is what the attribute shall be.
type UpdateAttributeIn struct {
	ID string `json:"id" jsonschema:"maxLength=64" jsonschema_description:"Id of the attribute."`
	AttributeDefinition

	counted *counted
}

// AttributeUpdated is the attribute as it is now and what the change did.
type AttributeUpdated struct {
	Attribute
	MutationClass MutationClass `json:"mutation_class" jsonschema:"enum=free,enum=safe_but_stale,enum=disruptive"`
	Impact        *Impact       `json:"impact,omitempty" jsonschema_description:"Present when the change is disruptive."`
}

func (a *Audience) attributesUpdate() core.Operation {
	return core.Declare(core.Op[UpdateAttributeIn, AttributeUpdated]{
		Name:  "attributes_update",
		Title: "Change an attribute",
		Purpose: "Replaces the definition of an attribute, whatever that does to segments, and says what it does. " +
			"Stored values follow the name and the type; one that does not fit the new type stays stored, and no read or predicate knows it.",
		Effect:   core.Writes,
		Scopes:   []core.Scope{core.AttributesManage},
		Writes:   core.ManyContacts,
		GitOwned: core.GitRefused,
		Prepare: func(ctx context.Context, c *core.Call, in UpdateAttributeIn) (UpdateAttributeIn, error) {
			if err := in.check(); err != nil {
				return in, err
			}
			after := in.over(Attribute{})
			var err error
			in.counted, err = a.count(ctx, c.Principal.Org.ID, in.ID, &after)
			return in, err
		},
		Do: a.updateAttribute,
	})
}

func (a *Audience) updateAttribute(ctx context.Context, c *core.Call, in UpdateAttributeIn) (AttributeUpdated, error) {
	org := c.Principal.Org.ID
	before, err := a.editable(ctx, org, in.ID)
	if err != nil {
		return AttributeUpdated{}, err
	}
	after := in.over(before)
	after.UpdatedAt = c.Now
	change := changeOf(before, &after)
	updated := AttributeUpdated{Attribute: after, MutationClass: change.Class}
	if change.Class != Free {
		impact, err := a.impact(ctx, org, change, in.counted.dropout(before))
		if err != nil {
			return AttributeUpdated{}, err
		}
		if change.Class == Disruptive {
			updated.Impact = impact
		}
	}
	c.About(after.ID)
	return updated, a.Store.UpdateAttribute(ctx, org, after)
}
