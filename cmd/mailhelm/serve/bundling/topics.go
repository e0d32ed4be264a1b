package bundling

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/bundles/definitions"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/topics"
)

type topicSubject struct{ Config }

func topicDefinition(t definitions.Topic) sending.Topic {
	return sending.Topic{Name: t.Name, DisplayName: t.DisplayName, Description: t.Description, Default: sending.Subscription(t.Default)}
}

func (s topicSubject) Check(_ context.Context, _ core.Org, c definitions.Change) (definitions.Faults, error) {
	faults := definitions.Faults{}
	for _, t := range c.Wanted.Topics {
		if err := faults.AddError(t.Name, topics.CheckDefinition(topicDefinition(t))); err != nil {
			return nil, err
		}
	}
	return faults, nil
}

func (s topicSubject) Apply(ctx context.Context, org core.Org, w definitions.Work, within func(context.Context) error) error {
	var all []sending.Topic
	for _, t := range w.Wanted.Topics {
		if w.Saves(t.Name) {
			all = append(all, topicDefinition(t))
		}
	}
	return s.Topics.Define(ctx, org.ID, all, w.Remove, within)
}
