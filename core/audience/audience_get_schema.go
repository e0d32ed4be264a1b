package audience

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
)

// GetSchemaIn has no members.
type GetSchemaIn struct {
	live []sending.Topic
}

// Schema is what an agent must know before it writes or filters contacts.
type Schema struct {
	Attributes []SchemaAttribute `json:"attributes"`
	Topics     []SchemaTopic     `json:"topics"`
	// ActivityProperties is empty as long as nothing promotes any.
	ActivityProperties []string `json:"activity_properties" voice:"untrusted" jsonschema_description:"Properties of activities that predicates may filter on."`
	GitConnected       bool     `json:"git_connected" jsonschema_description:"Whether definitions come from a repository and are read-only here."`
}

// SchemaAttribute is an attribute without what only administration needs.
type SchemaAttribute struct {
	Name        string        `json:"name" voice:"untrusted"`
	Type        AttributeType `json:"type" jsonschema:"enum=string,enum=number,enum=bool,enum=datetime,enum=enum"`
	EnumValues  []string      `json:"enum_values,omitempty" voice:"untrusted"`
	Description string        `json:"description,omitempty" voice:"untrusted"`
}

// SchemaTopic is a topic without what only administration needs.
type SchemaTopic struct {
	Name        string               `json:"name" voice:"untrusted"`
	DisplayName string               `json:"display_name" voice:"untrusted"`
	Description string               `json:"description,omitempty" voice:"untrusted"`
	Default     sending.Subscription `json:"default_subscription_status" jsonschema:"enum=OPT_IN,enum=OPT_OUT"`
}

func (a *Audience) audienceGetSchema() core.Operation {
	return core.Declare(core.Op[GetSchemaIn, Schema]{
		Name:  "audience_get_schema",
		Title: "Describe the audience",
		Purpose: "Reads what a contact may hold and subscribe to. Call it once before writing contacts. " +
			"Returns attributes with types and values, topics with defaults, and whether a repository owns the definitions. It holds no data about people.",
		Effect: core.Reads,
		Scopes: []core.Scope{core.AttributesView, core.TopicsView},
		Prepare: func(ctx context.Context, c *core.Call, in GetSchemaIn) (GetSchemaIn, error) {
			var err error
			in.live, err = a.topics.get(ctx, c.Principal.Org.ID, a.Account)
			return in, err
		},
		Do: a.getSchema,
	})
}

func (a *Audience) getSchema(ctx context.Context, c *core.Call, in GetSchemaIn) (Schema, error) {
	attributes, err := a.Store.Attributes(ctx, c.Principal.Org.ID)
	if err != nil {
		return Schema{}, err
	}
	schema := Schema{
		Attributes: make([]SchemaAttribute, 0, len(attributes)), Topics: make([]SchemaTopic, 0, len(in.live)),
		ActivityProperties: []string{}, GitConnected: c.Principal.Org.GitConnected,
	}
	for _, at := range attributes {
		schema.Attributes = append(schema.Attributes, SchemaAttribute{at.Name, at.Type, at.EnumValues, at.Description})
	}
	for _, t := range in.live {
		schema.Topics = append(schema.Topics, SchemaTopic{t.Name, t.DisplayName, t.Description, t.Default})
	}
	return schema, nil
}
