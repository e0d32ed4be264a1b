package activities

import (
	"context"
	"slices"

	"github.com/mailhelm/mailhelm/core"
)

// maxDefined is the number of promoted properties above which [Activities.DefineProperties] does not
// find an existing one.
const maxDefined = 10_000

var propertySchema = core.InputSchema[PropertyIn]()

// Check fails with core.CodeValidationFailed for a definition that activity_properties_create would
// refuse.
func (in PropertyIn) Check() error {
	if err := propertySchema.CheckValue(in); err != nil {
		return err
	}
	return in.check()
}

// DefineProperties promotes properties, or replaces the definitions of those that are promoted, and
// ends the promotion of the properties in remove, of which only the names count. Affected segments
// change as with the operations. The transaction of ctx is that of the caller.
func (a *Activities) DefineProperties(ctx context.Context, orgID string, all, remove []PropertyIn) error {
	held, err := a.Properties.PropertyPage(ctx, orgID, nil, maxDefined)
	if err != nil {
		return err
	}
	find := func(in PropertyIn) (Property, bool) {
		at := slices.IndexFunc(held, func(p Property) bool { return p.ActivityName == in.ActivityName && p.Property == in.Property })
		if at < 0 {
			return Property{}, false
		}
		return held[at], true
	}
	o, now := propertyOperations{a.Config}, a.Clock()
	for _, in := range remove {
		before, promoted := find(in)
		if !promoted {
			continue
		}
		if _, err := o.mutation(ctx, orgID, PropertyChange{Before: before}, new(int)); err != nil {
			return err
		}
		if err := a.Properties.DeleteProperty(ctx, orgID, before.ID); err != nil {
			return err
		}
	}
	for _, in := range all {
		if err := in.Check(); err != nil {
			return err
		}
		before, promoted := find(in)
		if !promoted {
			if err := a.Properties.InsertProperty(ctx, orgID, in.applyTo(Property{ID: core.NewID(), Origin: Managed, CreatedAt: now, UpdatedAt: now})); err != nil {
				return err
			}
			continue
		}
		after := in.applyTo(before)
		after.UpdatedAt = now
		// The number of contacts that lose a value is only shown, and nothing shows it here.
		if _, err := o.mutation(ctx, orgID, PropertyChange{Before: before, After: &after}, new(int)); err != nil {
			return err
		}
		if err := a.Properties.UpdateProperty(ctx, orgID, after); err != nil {
			return err
		}
	}
	return nil
}
