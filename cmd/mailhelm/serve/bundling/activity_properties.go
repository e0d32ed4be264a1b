package bundling

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/activities"
	"github.com/mailhelm/mailhelm/core/bundles/definitions"
)

type propertySubject struct{ Config }

func propertyDefinition(p definitions.ActivityProperty) activities.PropertyIn {
	return activities.PropertyIn{ActivityName: p.Activity, Property: p.Property, Type: activities.PropertyType(p.Type), Description: p.Description}
}

func (s propertySubject) Check(_ context.Context, _ core.Org, c definitions.Change) (definitions.Faults, error) {
	faults := definitions.Faults{}
	for _, p := range c.Wanted.ActivityProperties {
		if err := faults.AddError(p.Key(), propertyDefinition(p).Check()); err != nil {
			return nil, err
		}
	}
	return faults, nil
}

func (s propertySubject) Apply(ctx context.Context, org core.Org, w definitions.Work, within func(context.Context) error) error {
	var all, gone []activities.PropertyIn
	for _, p := range w.Wanted.ActivityProperties {
		if w.Saves(p.Key()) {
			all = append(all, propertyDefinition(p))
		}
	}
	for _, key := range w.Remove {
		p := definitions.PropertyOf(key)
		gone = append(gone, activities.PropertyIn{ActivityName: p.Activity, Property: p.Property})
	}
	return inOne(ctx, s.Transactor, func(ctx context.Context) error { return s.Activities.DefineProperties(ctx, org.ID, all, gone) }, within)
}
