package bundling

import (
	"context"
	"log/slog"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/activities"
	"github.com/mailhelm/mailhelm/core/assets"
	"github.com/mailhelm/mailhelm/core/attributes"
	"github.com/mailhelm/mailhelm/core/bundles"
	"github.com/mailhelm/mailhelm/core/bundles/definitions"
	"github.com/mailhelm/mailhelm/core/lists"
	"github.com/mailhelm/mailhelm/core/segments"
	"github.com/mailhelm/mailhelm/core/tags"
	"github.com/mailhelm/mailhelm/core/templates"
	"github.com/mailhelm/mailhelm/core/topics"
	"github.com/mailhelm/mailhelm/core/workflows"
	"github.com/mailhelm/mailhelm/core/workflows/language"
)

// Config has what the adapters use. All fields are required.
type Config struct {
	Store      bundles.Store
	Audit      access.AuditAppender
	Transactor core.Transactor
	Attributes *attributes.Attributes
	Activities *activities.Activities
	Lists      *lists.Lists
	Segments   *segments.Segments
	Topics     *topics.Topics
	Templates  *templates.Templates
	Tags       *tags.Tags
	Assets     *assets.Assets
	Workflows  *workflows.Editor
	Schemas    Schemas
	Clock      core.Clock
	Log        *slog.Logger
}

// Schemas reads the names that predicates and workflows of an organization may use.
type Schemas interface {
	WorkflowSchema(ctx context.Context, orgID string) (language.Schema, error)
}

// schemaOnce reads the names of one organization once. The plan of a bundle, or a sync, has its own.
// Callers must not change the maps of the schema.
type schemaOnce struct {
	Schemas
	read *language.Schema
}

func (o *schemaOnce) WorkflowSchema(ctx context.Context, orgID string) (language.Schema, error) {
	if o.read == nil {
		schema, err := o.Schemas.WorkflowSchema(ctx, orgID)
		if err != nil {
			return language.Schema{}, err
		}
		o.read = &schema
	}
	return *o.read, nil
}

// subjects has the adapter of each kind.
type subjects struct{ Config }

// byKind returns the subjects by their kinds.
func (s subjects) byKind() map[definitions.Kind]bundles.Subject {
	return map[definitions.Kind]bundles.Subject{
		definitions.KindAttribute: attributeSubject(s), definitions.KindActivityProperty: propertySubject(s), definitions.KindList: listSubject(s),
		definitions.KindSegment: segmentSubject(s), definitions.KindTopic: topicSubject(s), definitions.KindTemplate: templateSubject(s),
		definitions.KindImage: imageSubject(s), definitions.KindWorkflow: workflowSubject(s),
	}
}

// inOne calls both functions in one transaction.
func inOne(ctx context.Context, t core.Transactor, work, within func(ctx context.Context) error) error {
	return t.InTx(ctx, func(ctx context.Context) error {
		if err := work(ctx); err != nil {
			return err
		}
		return within(ctx)
	})
}

// about adds the name of a definition to a refusal, which otherwise would not say which one it is about.
func about(kind definitions.Kind, key string, err error) error {
	refusal := core.AsError(err)
	if refusal == nil || refusal.IsFault() {
		return err
	}
	named := *refusal
	named.Message = "The " + kind.Noun() + " " + core.Quote(key) + " was refused: " + refusal.Message
	return &named
}
