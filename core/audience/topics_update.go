package audience

import (
	"context"
	"slices"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
)

// UpdateTopicIn changes a topic. Members that are left out stay.
type UpdateTopicIn struct {
	Name        string               `json:"name" jsonschema:"minLength=1,maxLength=64" jsonschema_description:"Name of the topic."`
	DisplayName string               `json:"display_name,omitempty" jsonschema:"minLength=1,maxLength=128" jsonschema_description:"What people read."`
	Description *string              `json:"description,omitempty" jsonschema:"maxLength=500" jsonschema_description:"What the topic is about."`
	Default     sending.Subscription `json:"default_subscription_status,omitempty" jsonschema:"enum=OPT_IN,enum=OPT_OUT" jsonschema_description:"What holds for contacts who chose nothing."`

	write *topicWrite
}

func (a *Audience) topicsUpdate() core.Operation {
	return core.Declare(core.Op[UpdateTopicIn, Topic]{
		Name:     "topics_update",
		Title:    "Change a topic",
		Purpose:  "Changes a topic's display name, description or default, in the sending account first. What contacts chose themselves stays; a new default holds for all others at once. It cannot rename a topic.",
		Effect:   core.Writes,
		Scopes:   []core.Scope{core.TopicsManage},
		GitOwned: core.GitRefused,
		Prepare: func(ctx context.Context, c *core.Call, in UpdateTopicIn) (UpdateTopicIn, error) {
			in.write = &topicWrite{name: in.Name, edit: in.edit}
			return in, a.pushTopics(ctx, c, in.write)
		},
		Do: func(ctx context.Context, c *core.Call, in UpdateTopicIn) (Topic, error) {
			return a.storeTopics(ctx, c, in.write)
		},
	})
}

func (in UpdateTopicIn) edit(topics []sending.Topic) ([]sending.Topic, error) {
	at := indexOfTopic(topics, in.Name)
	if at < 0 {
		return nil, core.NotFound("topic")
	}
	changed := slices.Clone(topics)
	if in.DisplayName != "" {
		changed[at].DisplayName = in.DisplayName
	}
	if in.Description != nil {
		changed[at].Description = *in.Description
	}
	if in.Default != "" {
		changed[at].Default = in.Default
	}
	return changed, nil
}
