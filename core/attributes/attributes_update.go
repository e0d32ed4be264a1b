package attributes

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
)

// UpdateAttributeIn has the id of an attribute and the definition that replaces its present
// definition.
type UpdateAttributeIn struct {
	ID string `json:"id" jsonschema:"maxLength=64" jsonschema_description:"Id of the attribute."`
	Definition

	counted *countedDropout
}

// Updated is an attribute after a change, with what the change affects: its class and, if
// it is disruptive, the segments and contacts.
type Updated struct {
	Attribute
	MutationClass MutationClass `json:"mutation_class" jsonschema:"enum=free,enum=safe_but_stale,enum=disruptive"`
	Impact        *Impact       `json:"impact,omitempty" jsonschema_description:"Present when the change is disruptive."`
}

func (a *Attributes) attributesUpdate() core.Operation {
	return core.Declare(core.Op[UpdateAttributeIn, Updated]{
		Name:  "attributes_update",
		Title: "Change an attribute",
		Purpose: "Replaces the definition of an attribute, even if segments are affected, and returns the effects. " +
			"Stored values get the new name and type. A value that does not fit the new type stays stored, but reads and predicates ignore it.",
		Example:  `{"id": "0198c7a2-5d3e-7a01-8b00-2f61c0d4a101", "name": "city", "type": "string", "description": "City of the delivery address, as the customer wrote it."}`,
		Effect:   core.Writes,
		Scopes:   []core.Scope{core.AttributesManage},
		Fails:    []core.Code{core.CodeNotFound},
		Writes:   core.ManyContacts,
		GitOwned: core.GitRefused,
		Prepare: func(ctx context.Context, c *core.Call, in UpdateAttributeIn) (UpdateAttributeIn, error) {
			if err := in.check(); err != nil {
				return in, err
			}
			after := in.applyTo(Attribute{})
			var err error
			in.counted, err = a.countAhead(ctx, c.Principal.Org.ID, in.ID, &after)
			return in, err
		},
		Do: a.updateAttribute,
	})
}

func (a *Attributes) updateAttribute(ctx context.Context, c *core.Call, in UpdateAttributeIn) (Updated, error) {
	org := c.Principal.Org.ID
	before, err := a.readEditable(ctx, org, in.ID)
	if err != nil {
		return Updated{}, err
	}
	after := in.applyTo(before)
	after.UpdatedAt = c.Now
	change := classify(before, &after)
	updated := Updated{Attribute: after, MutationClass: change.Class}
	if change.Class != Free {
		impact, err := a.assess(ctx, org, change, in.counted.countFor(before))
		if err != nil {
			return Updated{}, err
		}
		if change.Class == Disruptive {
			updated.Impact = impact
		}
	}
	c.SetSubject(after.ID)
	return updated, a.Store.UpdateAttribute(ctx, org, after)
}
