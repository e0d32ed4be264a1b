package bundling

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/bundles/definitions"
	"github.com/mailhelm/mailhelm/core/lists"
)

type listSubject struct{ Config }

func (s listSubject) Check(_ context.Context, _ core.Org, c definitions.Change) (definitions.Faults, error) {
	faults := definitions.Faults{}
	for _, l := range c.Wanted.Lists {
		if err := faults.AddError(l.Key, lists.Definition(l).Check()); err != nil {
			return nil, err
		}
	}
	return faults, nil
}

func (s listSubject) Apply(ctx context.Context, org core.Org, w definitions.Work, within func(context.Context) error) error {
	return inOne(ctx, s.Transactor, func(ctx context.Context) error {
		for _, key := range w.Remove {
			if err := s.Lists.Archive(ctx, org.ID, key); err != nil {
				return about(definitions.KindList, key, err)
			}
		}
		for _, l := range w.Wanted.Lists {
			if !w.Saves(l.Key) {
				continue
			}
			if err := s.Lists.Define(ctx, org.ID, lists.Definition(l)); err != nil {
				return about(definitions.KindList, l.Key, err)
			}
		}
		return nil
	}, within)
}
