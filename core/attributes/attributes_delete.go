package attributes

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
)

// DeleteAttributeIn has the id of the attribute to delete.
type DeleteAttributeIn struct {
	ID string `json:"id" jsonschema:"maxLength=64" jsonschema_description:"Id of the attribute."`

	counted *countedDropout
}

// Effect is the result of changing an attribute or of previewing a change. It has the class
// of the change and its impact on segments and contacts.
type Effect struct {
	MutationClass MutationClass `json:"mutation_class" jsonschema:"enum=free,enum=safe_but_stale,enum=disruptive"`
	Impact        *Impact       `json:"impact"`
}

func (a *Attributes) attributesDelete() core.Operation {
	return core.Declare(core.Op[DeleteAttributeIn, Effect]{
		Name:  "attributes_delete",
		Title: "Delete an attribute",
		Purpose: "Deletes an attribute, which is always disruptive, and returns the effects. " +
			"Its values stay stored, but reads omit them; null still clears one. Registering the name again restores the values that fit the type.",
		Example:  `{"id": "0198c7a2-5d3e-7a01-8b00-2f61c0d4a101"}`,
		Effect:   core.Destroys,
		Scopes:   []core.Scope{core.AttributesManage},
		Fails:    []core.Code{core.CodeNotFound},
		Writes:   core.ManyContacts,
		GitOwned: core.GitRefused,
		Prepare: func(ctx context.Context, c *core.Call, in DeleteAttributeIn) (DeleteAttributeIn, error) {
			var err error
			in.counted, err = a.countAhead(ctx, c.Principal.Org.ID, in.ID, nil)
			return in, err
		},
		Do: a.deleteAttribute,
	})
}

func (a *Attributes) deleteAttribute(ctx context.Context, c *core.Call, in DeleteAttributeIn) (Effect, error) {
	org := c.Principal.Org.ID
	before, err := a.readEditable(ctx, org, in.ID)
	if err != nil {
		return Effect{}, err
	}
	change := classify(before, nil)
	impact, err := a.assess(ctx, org, change, in.counted.countFor(before))
	if err != nil {
		return Effect{}, err
	}
	c.SetSubject(before.ID)
	return Effect{change.Class, impact}, a.Store.DeleteAttribute(ctx, org, before.ID)
}
