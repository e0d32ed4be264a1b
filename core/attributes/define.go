package attributes

import (
	"context"
	"fmt"
	"slices"

	"github.com/mailhelm/mailhelm/core"
)

var definitionSchema = core.InputSchema[CreateAttributeIn]()

// Check fails with core.CodeValidationFailed for a definition that attributes_create would refuse.
func (d Definition) Check() error {
	if err := definitionSchema.CheckValue(CreateAttributeIn{d}); err != nil {
		return err
	}
	return d.check()
}

// Define registers attributes, or replaces the definitions of those with their names, and deletes the
// attributes with the names in remove. It treats affected segments and stored values as the
// operations do. The transaction of ctx is that of the caller.
func (a *Attributes) Define(ctx context.Context, orgID string, all []Definition, remove []string) error {
	held, err := a.Store.Attributes(ctx, orgID)
	if err != nil {
		return err
	}
	for _, name := range remove {
		at := slices.IndexFunc(held, func(h Attribute) bool { return h.Name == name })
		if at < 0 {
			continue
		}
		if _, err := a.assess(ctx, orgID, classify(held[at], nil), new(int)); err != nil {
			return err
		}
		if err := a.Store.DeleteAttribute(ctx, orgID, held[at].ID); err != nil {
			return err
		}
	}
	for _, d := range all {
		if err := d.Check(); err != nil {
			return err
		}
		at := slices.IndexFunc(held, func(h Attribute) bool { return h.Name == d.Name })
		if at < 0 {
			err = a.insert(ctx, orgID, d)
		} else {
			err = a.replace(ctx, orgID, held[at], d)
		}
		if err != nil {
			return err
		}
	}
	count, err := a.Store.CountAttributes(ctx, orgID)
	if err == nil && count > maxAttributes {
		err = core.Invalid("attributes", fmt.Sprintf("would be %d, but an organization may have at most %d", count, maxAttributes))
	}
	return err
}

func (a *Attributes) insert(ctx context.Context, orgID string, d Definition) error {
	now := a.Clock()
	return a.Store.InsertAttribute(ctx, orgID, d.applyTo(Attribute{ID: core.NewID(), Origin: core.ManagedOrigin, CreatedAt: now, UpdatedAt: now}))
}

func (a *Attributes) replace(ctx context.Context, orgID string, before Attribute, d Definition) error {
	after := d.applyTo(before)
	after.UpdatedAt = a.Clock()
	if change := classify(before, &after); change.Class != Free {
		// The number of contacts that lose a value is only shown, and nothing shows it here.
		if _, err := a.assess(ctx, orgID, change, new(int)); err != nil {
			return err
		}
	}
	return a.Store.UpdateAttribute(ctx, orgID, after)
}
