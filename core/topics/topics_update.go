package topics

import (
	"context"
	"slices"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
)

// UpdateTopicIn changes a topic. Values that are not sent do not change.
type UpdateTopicIn struct {
	Name        string               `json:"name" jsonschema:"minLength=1,maxLength=64" jsonschema_description:"Name of the topic."`
	DisplayName string               `json:"display_name,omitempty" jsonschema:"minLength=1,maxLength=128" jsonschema_description:"Name that people see."`
	Description *string              `json:"description,omitempty" jsonschema:"maxLength=500" jsonschema_description:"What the topic is about."`
	Default     sending.Subscription `json:"default_subscription_status,omitempty" jsonschema:"enum=OPT_IN,enum=OPT_OUT" jsonschema_description:"Subscription of contacts that made no choice."`

	write *topicWrite
}

func (t *Topics) topicsUpdate() core.Operation {
	return core.Declare(core.Op[UpdateTopicIn, Topic]{
		Name:     "topics_update",
		Title:    "Change a topic",
		Purpose:  "Changes a topic's display name, description or default, in the sending account first. Choices of contacts stay; a new default applies to all other contacts at once. It cannot rename a topic.",
		Example:  `{"name": "offers", "display_name": "Offers and last bags"}`,
		Effect:   core.Writes,
		Scopes:   []core.Scope{core.TopicsManage},
		Fails:    []core.Code{core.CodeNotFound, core.CodeUpstreamUnavailable},
		GitOwned: core.GitRefused,
		Prepare: func(ctx context.Context, c *core.Call, in UpdateTopicIn) (UpdateTopicIn, error) {
			in.write = &topicWrite{name: in.Name, edit: revision{in.Name, in.DisplayName, in.Description, in.Default}}
			return in, t.push(ctx, c, in.write)
		},
		Do: func(ctx context.Context, c *core.Call, in UpdateTopicIn) (Topic, error) {
			return t.mirror(ctx, c, in.write)
		},
	})
}

// revision is the edit that changes a topic: the fields that are set replace the values of
// the topic.
type revision struct {
	name, displayName string
	description       *string
	fallback          sending.Subscription
}

func (r revision) apply(topics []sending.Topic, _ bool) ([]sending.Topic, error) {
	at := indexOfTopic(topics, r.name)
	if at < 0 {
		return nil, core.NotFound("topic")
	}
	changed := slices.Clone(topics)
	if r.displayName != "" {
		changed[at].DisplayName = r.displayName
	}
	if r.description != nil {
		changed[at].Description = *r.description
	}
	if r.fallback != "" {
		changed[at].Default = r.fallback
	}
	return changed, nil
}
