package audience

import (
	"context"
	"slices"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
)

// DeleteTopicIn names the topic to delete.
type DeleteTopicIn struct {
	Name string `json:"name" jsonschema:"minLength=1,maxLength=64" jsonschema_description:"Name of the topic."`

	write *topicWrite
}

// Deleted says that a thing is gone.
type Deleted struct {
	Deleted bool `json:"deleted" jsonschema_description:"Always true."`
}

func (a *Audience) topicsDelete() core.Operation {
	return core.Declare(core.Op[DeleteTopicIn, Deleted]{
		Name:     "topics_delete",
		Title:    "Delete a topic",
		Purpose:  "Deletes a topic from the sending account's contact list, with what contacts chose about it. The global opt-out of a contact does not change.",
		Effect:   core.Destroys,
		Scopes:   []core.Scope{core.TopicsManage},
		Writes:   core.ManyContacts,
		GitOwned: core.GitRefused,
		Prepare: func(ctx context.Context, c *core.Call, in DeleteTopicIn) (DeleteTopicIn, error) {
			asked := false
			in.write = &topicWrite{name: in.Name, edit: func(topics []sending.Topic) ([]sending.Topic, error) {
				at, again := indexOfTopic(topics, in.Name), asked
				asked = true
				switch {
				case at < 0 && again:
					return topics, nil // we took it away ourselves
				case at < 0:
					return nil, core.NotFound("topic")
				}
				return slices.Delete(slices.Clone(topics), at, at+1), nil
			}}
			return in, a.pushTopics(ctx, c, in.write)
		},
		Do: func(ctx context.Context, c *core.Call, in DeleteTopicIn) (Deleted, error) {
			_, err := a.storeTopics(ctx, c, in.write)
			return Deleted{true}, err
		},
	})
}
