package attributes

import (
	"context"
	"fmt"

	"github.com/mailhelm/mailhelm/core"
)

// CreateAttributeIn has the definition of the attribute to register.
type CreateAttributeIn struct {
	Definition
}

func (a *Attributes) attributesCreate() core.Operation {
	return core.Declare(core.Op[CreateAttributeIn, Attribute]{
		Name:  "attributes_create",
		Title: "Register an attribute",
		Purpose: "Registers an attribute, after which contacts may have values of it. " +
			"Stored values of a deleted attribute of this name reappear if they fit the type; reads omit the others.",
		Example:  `{"name": "roast", "type": "enum", "enum_values": ["light", "medium", "dark"], "description": "Preferred roast."}`,
		Effect:   core.Writes,
		Scopes:   []core.Scope{core.AttributesManage},
		GitOwned: core.GitRefused,
		Do:       a.createAttribute,
	})
}

func (a *Attributes) createAttribute(ctx context.Context, c *core.Call, in CreateAttributeIn) (Attribute, error) {
	if err := in.check(); err != nil {
		return Attribute{}, err
	}
	org := c.Principal.Org.ID
	attribute := in.applyTo(Attribute{ID: core.NewID(), Origin: core.ManagedOrigin, CreatedAt: c.Now, UpdatedAt: c.Now})
	if err := a.Store.InsertAttribute(ctx, org, attribute); err != nil {
		return Attribute{}, err
	}
	registered, err := a.Store.CountAttributes(ctx, org)
	if err == nil && registered > maxAttributes {
		return Attribute{}, core.Invalid("name", fmt.Sprintf("would be attribute %d, but an organization may have at most %d; delete one first", registered, maxAttributes))
	}
	c.SetSubject(attribute.ID)
	return attribute, err
}
