package activities

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
)

// ChangedProperty is a promoted property after a change, with the effects of the change.
type ChangedProperty struct {
	Property
	Mutation
}

func (o propertyOperations) propertiesCreate() core.Operation {
	return core.Declare(core.Op[PropertyIn, Property]{
		Name:     "activity_properties_create",
		Title:    "Promote an activity property",
		Purpose:  "Promotes one property of the activities of one name, so that predicates can test it. A promoted property is refused with `conflict`.",
		Example:  `{"activity_name": "order_placed", "property": "total", "type": "number", "description": "Sum of the order, in euro."}`,
		Effect:   core.Writes,
		Scopes:   []core.Scope{core.ActivitiesManage},
		GitOwned: core.GitRefused,
		Do: func(ctx context.Context, c *core.Call, in PropertyIn) (Property, error) {
			if err := in.check(); err != nil {
				return Property{}, err
			}
			p := in.applyTo(Property{ID: core.NewID(), Origin: Managed, CreatedAt: c.Now, UpdatedAt: c.Now})
			c.SetSubject(p.ID)
			return p, o.Properties.InsertProperty(ctx, c.Principal.Org.ID, p)
		},
	})
}

func (o propertyOperations) propertiesReplace() core.Operation {
	return core.Declare(core.Op[PropertyChangeIn, ChangedProperty]{
		Name:     "activity_properties_replace",
		Title:    "Change an activity property",
		Purpose:  "Replaces the definition of a promoted property and returns the effects. Segments that a disruptive change affects are still evaluated, with a warning.",
		Example:  `{"id": "0198c7a2-5d3e-7a01-8b00-2f61c0d4a102", "activity_name": "order_placed", "property": "currency", "type": "string", "description": "Currency of the order, as in ISO 4217."}`,
		Effect:   core.Writes,
		Scopes:   []core.Scope{core.ActivitiesManage},
		Fails:    []core.Code{core.CodeNotFound},
		GitOwned: core.GitRefused,
		Prepare: func(ctx context.Context, c *core.Call, in PropertyChangeIn) (PropertyChangeIn, error) {
			change, err := o.edit(ctx, c, in)
			if err == nil {
				in.counted, err = o.count(ctx, c.Principal.Org.ID, change)
			}
			return in, err
		},
		Do: o.replaceProperty,
	})
}

func (o propertyOperations) replaceProperty(ctx context.Context, c *core.Call, in PropertyChangeIn) (ChangedProperty, error) {
	org := c.Principal.Org.ID
	change, err := o.edit(ctx, c, in)
	if err != nil {
		return ChangedProperty{}, err
	}
	after := *change.After
	c.SetSubject(after.ID)
	mutation, err := o.mutation(ctx, org, change, in.counted.dropout(change.Before))
	if err != nil {
		return ChangedProperty{}, err
	}
	return ChangedProperty{after, mutation}, o.Properties.UpdateProperty(ctx, org, after)
}

// change returns the change from the stored property to the definition that the caller
// sent. It also accepts properties that a repository defines, because previews use it.
func (o propertyOperations) change(ctx context.Context, c *core.Call, in PropertyChangeIn) (PropertyChange, error) {
	if err := in.check(); err != nil {
		return PropertyChange{}, err
	}
	before, err := o.Properties.Property(ctx, c.Principal.Org.ID, in.ID)
	if err != nil {
		return PropertyChange{}, err
	}
	after := in.applyTo(before)
	after.UpdatedAt = c.Now
	return PropertyChange{Before: before, After: &after}, nil
}

// edit returns the change that the input in describes, for a caller that will store it. It
// fails with core.CodeConflict if a Git repository defines the property.
func (o propertyOperations) edit(ctx context.Context, c *core.Call, in PropertyChangeIn) (PropertyChange, error) {
	change, err := o.change(ctx, c, in)
	if err != nil {
		return PropertyChange{}, err
	}
	return change, change.Before.refuseGitOwned()
}

func (o propertyOperations) propertiesPreview() core.Operation {
	return core.Declare(core.Op[PropertyChangeIn, Mutation]{
		Name:    "activity_properties_preview",
		Title:   "Preview a change to an activity property",
		Purpose: "Returns the effects that a change to a promoted property would have, and changes nothing.",
		Example: `{"id": "0198c7a2-5d3e-7a01-8b00-2f61c0d4a102", "activity_name": "order_placed", "property": "currency", "type": "number"}`,
		Effect:  core.Reads,
		Cost:    core.Heavy,
		Scopes:  []core.Scope{core.ActivitiesManage},
		Fails:   []core.Code{core.CodeNotFound},
		Do: func(ctx context.Context, c *core.Call, in PropertyChangeIn) (Mutation, error) {
			change, err := o.change(ctx, c, in)
			if err != nil {
				return Mutation{}, err
			}
			change.Preview = true
			return o.mutation(ctx, c.Principal.Org.ID, change, nil)
		},
	})
}

func (o propertyOperations) propertiesDelete() core.Operation {
	return core.Declare(core.Op[DeletePropertyIn, Mutation]{
		Name:     "activity_properties_delete",
		Title:    "End the promotion of an activity property",
		Purpose:  "Ends the promotion, so that predicates can no longer test the property, and returns the effects. Activities keep the property.",
		Example:  `{"id": "0198c7a2-5d3e-7a01-8b00-2f61c0d4a102"}`,
		Effect:   core.Destroys,
		Scopes:   []core.Scope{core.ActivitiesManage},
		Fails:    []core.Code{core.CodeNotFound},
		GitOwned: core.GitRefused,
		Prepare: func(ctx context.Context, c *core.Call, in DeletePropertyIn) (DeletePropertyIn, error) {
			before, err := o.editable(ctx, c, in.ID)
			if err == nil {
				in.counted, err = o.count(ctx, c.Principal.Org.ID, PropertyChange{Before: before})
			}
			return in, err
		},
		Do: o.deleteProperty,
	})
}

func (o propertyOperations) deleteProperty(ctx context.Context, c *core.Call, in DeletePropertyIn) (Mutation, error) {
	org := c.Principal.Org.ID
	before, err := o.editable(ctx, c, in.ID)
	if err != nil {
		return Mutation{}, err
	}
	c.SetSubject(before.ID)
	mutation, err := o.mutation(ctx, org, PropertyChange{Before: before}, in.counted.dropout(before))
	if err != nil {
		return Mutation{}, err
	}
	return mutation, o.Properties.DeleteProperty(ctx, org, in.ID)
}

// editable returns a property that may be changed through the API. It fails with
// core.CodeConflict if a Git repository defines the property.
func (o propertyOperations) editable(ctx context.Context, c *core.Call, id string) (Property, error) {
	p, err := o.Properties.Property(ctx, c.Principal.Org.ID, id)
	if err == nil {
		err = p.refuseGitOwned()
	}
	return p, err
}

// PreviewPropertyDelete returns the effects that ending the promotion of a property would
// have, and changes nothing. It fails with core.CodeNotFound if there is no such property.
// It reads all activities with the property's activity name. The dashboard calls it before
// a person ends a promotion.
func (a *Activities) PreviewPropertyDelete(ctx context.Context, orgID, id string) (Mutation, error) {
	before, err := a.Properties.Property(ctx, orgID, id)
	if err != nil {
		return Mutation{}, err
	}
	return propertyOperations{a.Config}.mutation(ctx, orgID, PropertyChange{Before: before, Preview: true}, nil)
}
