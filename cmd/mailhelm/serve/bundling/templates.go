package bundling

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/bundles/definitions"
	"github.com/mailhelm/mailhelm/core/tags"
	"github.com/mailhelm/mailhelm/core/templates"
)

type templateSubject struct{ Config }

func templateDefinition(t definitions.Template) templates.Definition {
	return templates.Definition{Slug: t.Key, Subject: t.Subject, HTML: t.HTML, Text: t.Text, Topic: t.Topic, TestData: t.TestData}
}

func (s templateSubject) Check(ctx context.Context, org core.Org, c definitions.Change) (definitions.Faults, error) {
	schema, err := s.Schemas.WorkflowSchema(ctx, org.ID)
	if err != nil {
		return nil, err
	}
	names := schema.Schema
	namesAfter(c)(&names)
	attributes := slices.Sorted(maps.Keys(names.Attributes))
	faults, err := s.checkKeys(ctx, org, c.Keys[definitions.KindTemplate])
	if err != nil {
		return nil, err
	}
	for _, t := range c.Wanted.Templates {
		found, better := templates.CheckDefinition(templateDefinition(t), attributes)
		for _, f := range found {
			faults.Add(t.Key, partOf(f.Part, definitions.Diagnostic{Severity: definitions.Error, Code: invalidTemplate, Message: sentence(f.Message), Line: f.Line, Column: f.Column}))
		}
		for _, d := range better {
			faults.Add(t.Key, definitions.Diagnostic{Severity: definitions.Warning, Code: d.Code, Message: sentence(d.Message), Line: d.Line, Column: d.Column})
		}
		if _, known := names.Topics[t.Topic]; t.Topic != "" && !known {
			faults.Add(t.Key, partOf(definitions.PartSubject, definitions.Diagnostic{
				Severity: definitions.Warning, Code: unknownTopic, Message: "There is no topic " + core.Quote(t.Topic) + ". Messages of the template are refused until it exists.",
			}))
		}
		for _, name := range t.Tags {
			if err := faults.AddError(t.Key, tags.CheckName(name)); err != nil {
				return nil, err
			}
		}
		if err := faults.AddError(t.Key, tags.CheckNumber(t.Tags)); err != nil {
			return nil, err
		}
	}
	return faults, nil
}

// checkKeys returns why templates cannot have the keys.
func (s templateSubject) checkKeys(ctx context.Context, org core.Org, keys []string) (definitions.Faults, error) {
	named, err := s.Templates.Store.Slugs(ctx, org.ID)
	if err != nil {
		return nil, err
	}
	faults := definitions.Faults{}
	fault := func(key, message string) {
		faults.Add(key, definitions.Diagnostic{Severity: definitions.Error, Code: invalidTemplate, Message: message, Part: definitions.PartKey})
	}
	for _, key := range keys {
		for _, reason := range templates.CheckSlug(org, key) {
			fault(key, sentence("`slug` "+reason))
		}
		if slices.ContainsFunc(named, func(t templates.SlugUse) bool { return t.Slug == key && t.Source == templates.Import }) {
			fault(key, "The sending account has a template of its own with the slug "+core.Quote(key)+", and Mailhelm does not replace it. Choose another key.")
		}
	}
	return faults, nil
}

// partOf says in which part of a template a diagnostic is.
func partOf(part string, d definitions.Diagnostic) definitions.Diagnostic {
	if part != "html" {
		d.Part = part
	}
	if d.Part != "" && !strings.HasPrefix(d.Message, "`") {
		d.Message = strings.ToUpper(d.Message[:1]) + d.Message[1:]
	}
	return d
}

func (s templateSubject) Apply(ctx context.Context, org core.Org, w definitions.Work, within func(context.Context) error) error {
	by := templates.Author{Kind: w.Author.Kind, ID: w.Author.ID, UserID: w.Author.UserID}
	stored := templates.Definitions{Config: s.Templates.Config}
	return inOne(ctx, s.Transactor, func(ctx context.Context) error {
		for _, key := range slices.Sorted(maps.Keys(w.Broken)) {
			if err := stored.KeepInvalid(ctx, org, key, w.Broken[key]); err != nil {
				return about(definitions.KindTemplate, key, err)
			}
		}
		for _, t := range w.Wanted.Templates {
			if !w.Saves(t.Key) || w.Reason(t.Key) != "" {
				continue
			}
			id, err := stored.Define(ctx, org, templateDefinition(t), by)
			if err != nil {
				return about(definitions.KindTemplate, t.Key, err)
			}
			if err := s.Tags.SetNamesOfTemplate(ctx, org.ID, id, t.Tags); err != nil {
				return about(definitions.KindTemplate, t.Key, err)
			}
		}
		return nil
	}, within)
}
