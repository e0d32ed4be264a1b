package topics

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core/sending"
)

// replaceMirrored replaces Mailhelm's copy of the account's topics. In the same
// transaction, it first passes the deleted topics, and the topics whose default
// subscription changed, to Config.OnRedefine. It does not pass new topics, because no
// segment can test them yet.
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

// compareTopics compares Mailhelm's copy of the topics with the account's topics. It
// returns the topics that the account no longer has, and those whose default subscription
// differs.
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
