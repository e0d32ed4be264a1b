package bundling

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/attributes"
	"github.com/mailhelm/mailhelm/core/bundles/definitions"
)

type attributeSubject struct{ Config }

func attributeDefinition(a definitions.Attribute) attributes.Definition {
	return attributes.Definition{Name: a.Name, Type: attributes.Type(a.Type), EnumValues: a.EnumValues, Description: a.Description}
}

func (s attributeSubject) Check(_ context.Context, _ core.Org, c definitions.Change) (definitions.Faults, error) {
	faults := definitions.Faults{}
	for _, a := range c.Wanted.Attributes {
		if err := faults.AddError(a.Name, attributeDefinition(a).Check()); err != nil {
			return nil, err
		}
	}
	return faults, nil
}

func (s attributeSubject) Apply(ctx context.Context, org core.Org, w definitions.Work, within func(context.Context) error) error {
	var all []attributes.Definition
	for _, a := range w.Wanted.Attributes {
		if w.Saves(a.Name) {
			all = append(all, attributeDefinition(a))
		}
	}
	return inOne(ctx, s.Transactor, func(ctx context.Context) error { return s.Attributes.Define(ctx, org.ID, all, w.Remove) }, within)
}
