package audience

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
)

// ListTopicsIn has no members: topics come whole.
type ListTopicsIn struct {
	live []sending.Topic
}

func (a *Audience) topicsList() core.Operation {
	return core.Declare(core.Op[ListTopicsIn, core.Collection[Topic]]{
		Name:    "topics_list",
		Title:   "List topics",
		Purpose: "Lists all topics that contacts subscribe to, by name, as the sending account defines them at this moment, at most a minute old.",
		Effect:  core.Reads,
		Cost:    core.Light,
		Scopes:  []core.Scope{core.TopicsView},
		Prepare: func(ctx context.Context, c *core.Call, in ListTopicsIn) (ListTopicsIn, error) {
			var err error
			in.live, err = a.Topics(ctx, c.Principal.Org.ID)
			return in, err
		},
		Do: func(ctx context.Context, c *core.Call, in ListTopicsIn) (core.Collection[Topic], error) {
			topics, err := a.mirroredTopics(ctx, c, in.live)
			return core.Collection[Topic]{Data: topics}, err
		},
	})
}

// mirroredTopics dates the account's topics by the mirror. One that the mirror
// has not seen yet is as new as this call.
func (a *Audience) mirroredTopics(ctx context.Context, c *core.Call, live []sending.Topic) ([]Topic, error) {
	known, err := a.Store.Topics(ctx, c.Principal.Org.ID)
	if err != nil {
		return nil, err
	}
	byName := make(map[string]Topic, len(known))
	for _, t := range known {
		byName[t.Name] = t
	}
	topics := make([]Topic, 0, len(live))
	for _, t := range live {
		topic, ok := byName[t.Name]
		if !ok {
			topic = Topic{Name: t.Name, Origin: core.ManagedOrigin, CreatedAt: c.Now, UpdatedAt: c.Now}
		}
		topic.DisplayName, topic.Description, topic.Default = t.DisplayName, t.Description, t.Default
		topic.Status = string(Active)
		topics = append(topics, topic)
	}
	return topics, nil
}
