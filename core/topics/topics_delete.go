package topics

import (
	"context"
	"slices"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
)

// DeleteTopicIn has the name of the topic to delete.
type DeleteTopicIn struct {
	Name string `json:"name" jsonschema:"minLength=1,maxLength=64" jsonschema_description:"Name of the topic."`

	write *topicWrite
}

func (t *Topics) topicsDelete() core.Operation {
	return core.Declare(core.Op[DeleteTopicIn, core.Deleted]{
		Name:     "topics_delete",
		Title:    "Delete a topic",
		Purpose:  "Deletes a topic and the contacts' choices about it from the sending account's contact list. The global opt-out of a contact does not change.",
		Example:  `{"name": "events"}`,
		Effect:   core.Destroys,
		Scopes:   []core.Scope{core.TopicsManage},
		Fails:    []core.Code{core.CodeNotFound, core.CodeUpstreamUnavailable},
		Writes:   core.ManyContacts,
		GitOwned: core.GitRefused,
		Prepare: func(ctx context.Context, c *core.Call, in DeleteTopicIn) (DeleteTopicIn, error) {
			in.write = &topicWrite{name: in.Name, edit: removal{in.Name}}
			return in, t.push(ctx, c, in.write)
		},
		Do: func(ctx context.Context, c *core.Call, in DeleteTopicIn) (core.Deleted, error) {
			_, err := t.mirror(ctx, c, in.write)
			return core.Deleted{Deleted: true}, err
		},
	})
}

// removal is the edit that removes the topic with the name from the account's topics.
type removal struct{ name string }

func (r removal) apply(topics []sending.Topic, again bool) ([]sending.Topic, error) {
	at := indexOfTopic(topics, r.name)
	switch {
	case at < 0 && again:
		return topics, nil // removed the first time
	case at < 0:
		return nil, core.NotFound("topic")
	}
	return slices.Delete(slices.Clone(topics), at, at+1), nil
}
