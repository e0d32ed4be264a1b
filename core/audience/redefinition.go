package audience

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core/sending"
)

// Redefinition is a change of what predicates test, other than of attributes.
type Redefinition struct {
	// GoneLists are ids of lists that are deleted.
	GoneLists []string
	// GoneTopics are names of topics that are deleted, and TurnedTopics of those that
	// get another default, which decides for everybody who chose nothing.
	GoneTopics, TurnedTopics []string
}

func (a *Audience) redefined(ctx context.Context, orgID string, what Redefinition) error {
	if a.Redefined == nil {
		return nil
	}
	return a.Redefined(ctx, orgID, what)
}

// replaceTopics mirrors the account's topics, and tells what that changes for
// predicates. A topic that is new changes nothing: no predicate can name it yet.
func (a *Audience) replaceTopics(ctx context.Context, orgID string, topics []sending.Topic, at time.Time) error {
	return a.Transactor.InTx(ctx, func(ctx context.Context) error {
		known, err := a.Store.Topics(ctx, orgID)
		if err != nil {
			return err
		}
		var what Redefinition
		for _, topic := range known {
			i := indexOfTopic(topics, topic.Name)
			switch {
			case i < 0:
				what.GoneTopics = append(what.GoneTopics, topic.Name)
			case topics[i].Default != topic.Default:
				what.TurnedTopics = append(what.TurnedTopics, topic.Name)
			}
		}
		if what.GoneTopics != nil || what.TurnedTopics != nil {
			if err := a.redefined(ctx, orgID, what); err != nil {
				return err
			}
		}
		return a.Store.ReplaceTopics(ctx, orgID, topics, at)
	})
}
