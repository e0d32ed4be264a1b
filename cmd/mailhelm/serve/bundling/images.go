package bundling

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/assets"
	"github.com/mailhelm/mailhelm/core/bundles/definitions"
)

type imageSubject struct{ Config }

func (s imageSubject) Check(_ context.Context, _ core.Org, c definitions.Change) (definitions.Faults, error) {
	faults := definitions.Faults{}
	for _, i := range c.Wanted.Images {
		for _, f := range assets.Check(i.Path, i.Content) {
			faults.Add(i.Path, definitions.Diagnostic{Severity: definitions.Error, Code: f.Code, Message: f.Message})
		}
	}
	return faults, nil
}

func (s imageSubject) Apply(ctx context.Context, org core.Org, w definitions.Work, within func(context.Context) error) error {
	var all []assets.Image
	for _, i := range w.Wanted.Images {
		if w.Saves(i.Path) {
			all = append(all, assets.Image{Path: i.Path, Content: i.Content, Origin: w.Origin, Branch: w.Branch})
		}
	}
	// The contents are written before the transaction, which only names them.
	if err := s.Assets.Keep(ctx, org.ID, all); err != nil {
		return err
	}
	return inOne(ctx, s.Transactor, func(ctx context.Context) error {
		if err := s.Assets.Archive(ctx, org.ID, w.Remove); err != nil {
			return err
		}
		return s.Assets.Put(ctx, org.ID, all)
	}, within)
}
