package attributes

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/sending"
)

// GetSchemaIn is the input of audience_get_schema, which has no arguments.
type GetSchemaIn struct {
	live []sending.Topic
}

// Schema describes the attributes, topics and activity properties of an organization, and
// the predicate language. An agent needs it before it writes or filters contacts.
type Schema struct {
	Attributes         []SchemaAttribute `json:"attributes"`
	Topics             []SchemaTopic     `json:"topics"`
	ActivityProperties []SchemaProperty  `json:"activity_properties" jsonschema_description:"Properties of activities that predicates may test."`
	PredicateLanguage  string            `json:"predicate_language" voice:"ours" jsonschema_description:"How predicates of segments are written."`
	GitConnected       bool              `json:"git_connected" jsonschema_description:"Whether definitions come from a repository and are read-only here."`
}

// SchemaProperty is a property of the activities with one name; predicates may test it.
type SchemaProperty struct {
	Activity string `json:"activity" voice:"untrusted"`
	Property string `json:"property" voice:"untrusted"`
	Type     string `json:"type" jsonschema:"enum=string,enum=number,enum=bool,enum=datetime"`
}

// SchemaAttribute is an [Attribute] without its id, origin and times.
type SchemaAttribute struct {
	Name        string   `json:"name" voice:"untrusted"`
	Type        Type     `json:"type" jsonschema:"enum=string,enum=number,enum=bool,enum=datetime,enum=enum"`
	EnumValues  []string `json:"enum_values,omitempty" voice:"untrusted"`
	Description string   `json:"description,omitempty" voice:"untrusted"`
}

// SchemaTopic has the names and the description of a topic of the sending account, and the
// default: opt-in or opt-out, for contacts without a choice of their own.
type SchemaTopic struct {
	Name        string               `json:"name" voice:"untrusted"`
	DisplayName string               `json:"display_name" voice:"untrusted"`
	Description string               `json:"description,omitempty" voice:"untrusted"`
	Default     sending.Subscription `json:"default_subscription_status" jsonschema:"enum=OPT_IN,enum=OPT_OUT"`
}

// GetSchema returns the operation audience_get_schema.
func (a *Attributes) GetSchema() core.Operation {
	return core.Declare(core.Op[GetSchemaIn, Schema]{
		Name:  "audience_get_schema",
		Title: "Describe the audience",
		Purpose: "Reads the attributes, the topics and the predicate language. Call it once before writing contacts or predicates. " +
			"Returns attributes, topics with defaults, the predicate language, and whether a repository owns the definitions. It holds no data about people.",
		Effect: core.Reads,
		Cost:   core.Light,
		Scopes: []core.Scope{core.AttributesView, core.TopicsView},
		Fails:  []core.Code{core.CodeUpstreamUnavailable},
		Prepare: func(ctx context.Context, c *core.Call, in GetSchemaIn) (GetSchemaIn, error) {
			var err error
			in.live, err = a.Topics.Topics(ctx, c.Principal.Org.ID)
			return in, err
		},
		Do: a.getSchema,
	})
}

func (a *Attributes) getSchema(ctx context.Context, c *core.Call, in GetSchemaIn) (Schema, error) {
	attributes, err := a.Store.Attributes(ctx, c.Principal.Org.ID)
	if err != nil {
		return Schema{}, err
	}
	schema := Schema{
		Attributes: make([]SchemaAttribute, 0, len(attributes)), Topics: make([]SchemaTopic, 0, len(in.live)),
		ActivityProperties: []SchemaProperty{}, PredicateLanguage: predicate.Reference, GitConnected: c.Principal.Org.GitConnected,
	}
	if a.ActivityProperties != nil {
		properties, err := a.ActivityProperties(ctx, c.Principal.Org.ID)
		if err != nil {
			return Schema{}, err
		}
		for p, t := range properties {
			schema.ActivityProperties = append(schema.ActivityProperties, SchemaProperty{p.Activity, p.Property, t.String()})
		}
		slices.SortFunc(schema.ActivityProperties, func(a, b SchemaProperty) int {
			return cmp.Or(strings.Compare(a.Activity, b.Activity), strings.Compare(a.Property, b.Property))
		})
	}
	for _, at := range attributes {
		schema.Attributes = append(schema.Attributes, SchemaAttribute{at.Name, at.Type, at.EnumValues, at.Description})
	}
	for _, t := range in.live {
		schema.Topics = append(schema.Topics, SchemaTopic{t.Name, t.DisplayName, t.Description, t.Default})
	}
	return schema, nil
}
