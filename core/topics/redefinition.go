package topics

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core/sending"
)

// replaceMirrored replaces the mirrored topics by the account's. In the same transaction it
// first passes deleted topics and changed defaults to Config.OnRedefine. New topics are not
// passed, because no predicate can name them yet.
func (t *Topics) replaceMirrored(ctx context.Context, orgID string, topics []sending.Topic, at time.Time) error {
	return t.Transactor.InTx(ctx, func(ctx context.Context) error {
		known, err := t.Store.Topics(ctx, orgID)
		if err != nil {
			return err
		}
		what := compareTopics(known, topics)
		if t.OnRedefine != nil && (what.Gone != nil || what.Turned != nil) {
			if err := t.OnRedefine(ctx, orgID, what); err != nil {
				return err
			}
		}
		return t.Store.ReplaceTopics(ctx, orgID, topics, at)
	})
}

// compareTopics returns which mirrored topics the account has deleted or given another
// default.
func compareTopics(known []Topic, topics []sending.Topic) Redefinition {
	var what Redefinition
	for _, topic := range known {
		i := indexOfTopic(topics, topic.Name)
		switch {
		case i < 0:
			what.Gone = append(what.Gone, topic.Name)
		case topics[i].Default != topic.Default:
			what.Turned = append(what.Turned, topic.Name)
		}
	}
	return what
}
