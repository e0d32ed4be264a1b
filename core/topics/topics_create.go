package topics

import (
	"context"
	"fmt"
	"slices"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
)

// CreateTopicIn is a new topic.
type CreateTopicIn struct {
	Name        string               `json:"name" jsonschema:"minLength=1,maxLength=64" jsonschema_description:"Letters, digits, underscores and hyphens. It never changes."`
	DisplayName string               `json:"display_name,omitempty" jsonschema:"maxLength=128" jsonschema_description:"Name that people see. Default: the name."`
	Description string               `json:"description,omitempty" jsonschema:"maxLength=500" jsonschema_description:"What the topic is about."`
	Default     sending.Subscription `json:"default_subscription_status" jsonschema:"enum=OPT_IN,enum=OPT_OUT" jsonschema_description:"Subscription of contacts that made no choice."`

	write *topicWrite
}

func (t *Topics) topicsCreate() core.Operation {
	return core.Declare(core.Op[CreateTopicIn, Topic]{
		Name:     "topics_create",
		Title:    "Create a topic",
		Purpose:  "Creates a topic in the sending account's contact list, which may have 50 topics, or fewer where the account has less room. It subscribes no contact: contacts follow the default until they choose.",
		Example:  `{"name": "recipes", "display_name": "Recipes", "description": "A recipe every month.", "default_subscription_status": "OPT_OUT"}`,
		Effect:   core.Writes,
		Scopes:   []core.Scope{core.TopicsManage},
		Fails:    []core.Code{core.CodeUpstreamUnavailable},
		GitOwned: core.GitRefused,
		Prepare:  t.prepareCreate,
		Do: func(ctx context.Context, c *core.Call, in CreateTopicIn) (Topic, error) {
			return t.mirror(ctx, c, in.write)
		},
	})
}

func (t *Topics) prepareCreate(ctx context.Context, c *core.Call, in CreateTopicIn) (CreateTopicIn, error) {
	if !isTopicName(in.Name) {
		return in, core.Invalid("name", "must consist of letters A-Z and a-z, digits, underscores and hyphens")
	}
	if in.DisplayName == "" {
		in.DisplayName = in.Name
	}
	added := sending.Topic{Name: in.Name, DisplayName: in.DisplayName, Description: in.Description, Default: in.Default}
	in.write = &topicWrite{name: in.Name, edit: addition{added}}
	return in, t.push(ctx, c, in.write)
}

// addition is the edit that adds a topic to the account's topics.
type addition struct{ topic sending.Topic }

func (a addition) apply(topics []sending.Topic, again bool) ([]sending.Topic, error) {
	at := indexOfTopic(topics, a.topic.Name)
	switch {
	case at >= 0 && again && topics[at] == a.topic:
		return topics, nil // added the first time
	case at >= 0:
		return nil, core.Conflict("A topic with this name exists.", "Change it with PUT, or choose another name.")
	case len(topics) >= maxTopics:
		return nil, core.Invalid("name", fmt.Sprintf("would exceed the limit of %d topics; delete one first", maxTopics))
	}
	return append(slices.Clone(topics), a.topic), nil
}

func isTopicName(name string) bool {
	for _, r := range name {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-'
		if !letter {
			return false
		}
	}
	return name != ""
}
