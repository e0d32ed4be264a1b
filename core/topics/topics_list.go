package topics

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
)

// ListTopicsIn has no arguments, because topics_list returns all topics.
type ListTopicsIn struct {
	live []sending.Topic
}

func (t *Topics) topicsList() core.Operation {
	return core.Declare(core.Op[ListTopicsIn, core.Collection[Topic]]{
		Name:    "topics_list",
		Title:   "List topics",
		Purpose: "Lists all topics of the sending account by name, at most a minute old.",
		Effect:  core.Reads,
		Cost:    core.Light,
		Scopes:  []core.Scope{core.TopicsView},
		Fails:   []core.Code{core.CodeUpstreamUnavailable},
		Prepare: func(ctx context.Context, c *core.Call, in ListTopicsIn) (ListTopicsIn, error) {
			var err error
			in.live, err = t.Live.Topics(ctx, c.Principal.Org.ID)
			return in, err
		},
		Do: func(ctx context.Context, c *core.Call, in ListTopicsIn) (core.Collection[Topic], error) {
			topics, err := t.dateTopics(ctx, c, in.live)
			return core.Collection[Topic]{Data: topics}, err
		},
	})
}

// dateTopics returns the account's topics with the origin and the times that Mailhelm has
// stored. A topic that is not stored yet gets the time of the call.
func (t *Topics) dateTopics(ctx context.Context, c *core.Call, live []sending.Topic) ([]Topic, error) {
	known, err := t.Store.Topics(ctx, c.Principal.Org.ID)
	if err != nil {
		return nil, err
	}
	byName := make(map[string]Topic, len(known))
	for _, topic := range known {
		byName[topic.Name] = topic
	}
	topics := make([]Topic, 0, len(live))
	for _, at := range live {
		topic, ok := byName[at.Name]
		if !ok {
			topic = Topic{Name: at.Name, Origin: core.ManagedOrigin, CreatedAt: c.Now, UpdatedAt: c.Now}
		}
		topic.DisplayName, topic.Description, topic.Default = at.DisplayName, at.Description, at.Default
		topic.Status = statusActive
		topics = append(topics, topic)
	}
	return topics, nil
}
