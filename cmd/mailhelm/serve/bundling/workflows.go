package bundling

import (
	"context"
	"maps"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/bundles/definitions"
	"github.com/mailhelm/mailhelm/core/workflows"
)

type workflowSubject struct{ Config }

func (s workflowSubject) Check(ctx context.Context, org core.Org, c definitions.Change) (definitions.Faults, error) {
	schema, err := s.Schemas.WorkflowSchema(ctx, org.ID)
	if err != nil {
		return nil, err
	}
	namesAfter(c)(&schema.Schema)
	segmentsAfter(&schema.Schema, c)
	// A template whose files have errors is no fault of the workflow, whose activation fails then.
	schema.Templates = maps.Clone(schema.Templates)
	for _, key := range c.Keys[definitions.KindTemplate] {
		schema.Templates[key] = true
	}
	faults := definitions.Faults{}
	for _, w := range c.Wanted.Workflows {
		if err := faults.AddError(w.Key, workflows.CheckKey(w.Key)); err != nil {
			return nil, err
		}
		if err := faults.AddError(w.Key, workflows.CheckSize(w.Source)); err != nil {
			return nil, err
		}
		for _, d := range workflows.ReviewWith(w.Source, schema).Diagnostics {
			severity := definitions.Warning
			if d.Severity == workflows.Fault {
				severity = definitions.Error
			}
			faults.Add(w.Key, definitions.Diagnostic{Severity: severity, Code: invalidWorkflow, Message: sentence(d.Words()), Line: d.Line, Column: d.Column})
		}
	}
	return faults, nil
}

func (s workflowSubject) Apply(ctx context.Context, org core.Org, w definitions.Work, within func(context.Context) error) error {
	return inOne(ctx, s.Transactor, func(ctx context.Context) error {
		for _, d := range w.Wanted.Workflows {
			if !w.Saves(d.Key) {
				continue
			}
			saved := workflows.Definition{
				Key: d.Key, Source: d.Source, Author: workflows.Author{Kind: w.Author.Kind, ID: w.Author.ID, UserID: w.Author.UserID},
				Revives: true, Broken: w.Reason(d.Key),
			}
			if w.Origin == core.GitOrigin {
				source := w.SourceOf(d.Key)
				saved.Origin, saved.SourcePath, saved.SourceURL = workflows.FromGit, source.Path, source.URL
			}
			if _, err := s.Workflows.Save(ctx, org.ID, saved); err != nil {
				return about(definitions.KindWorkflow, d.Key, err)
			}
		}
		for _, key := range w.Remove {
			if _, err := s.Workflows.Archive(ctx, org.ID, key); err != nil {
				return about(definitions.KindWorkflow, key, err)
			}
		}
		return nil
	}, within)
}
