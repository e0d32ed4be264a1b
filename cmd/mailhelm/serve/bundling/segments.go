package bundling

import (
	"context"
	"slices"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/bundles/definitions"
	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/segments"
)

type segmentSubject struct{ Config }

// The codes of diagnostics about sources.
const (
	invalidPredicate = "invalid_predicate"
	invalidWorkflow  = "invalid_workflow"
	invalidTemplate  = "invalid_template"
	lint             = "lint"
	unknownTopic     = "unknown_topic"
)

// together returns the segments of a bundle, those with the keys only if keys is not nil.
func together(c definitions.Change, keys []string, origin core.Origin) segments.Together {
	t := segments.Together{Names: func(s *predicate.Schema) {
		namesAfter(c)(s)
		segmentsAfter(s, c)
	}}
	for _, g := range c.Wanted.Segments {
		if keys == nil || slices.Contains(keys, g.Key) {
			t.Definitions = append(t.Definitions, segments.Definition{
				Key: g.Key, Name: g.Name, Description: g.Description, Source: g.Predicate, Origin: segments.Origin(origin),
			})
		}
	}
	return t
}

func (s segmentSubject) Check(ctx context.Context, org core.Org, c definitions.Change) (definitions.Faults, error) {
	found, err := s.Segments.CheckAll(ctx, org, together(c, nil, core.ManagedOrigin))
	faults := definitions.Faults{}
	for key, f := range found {
		for _, fault := range f.Faults {
			faults.Add(key, definitions.Diagnostic{Severity: definitions.Error, Code: invalidPredicate, Message: sentence(fault.Message), Line: fault.Line, Column: fault.Column})
		}
		for _, w := range f.Warnings {
			faults.Add(key, definitions.Diagnostic{Severity: definitions.Warning, Code: lint, Message: sentence(w.Message), Line: w.Line, Column: w.Column})
		}
	}
	return faults, err
}

func (s segmentSubject) Apply(ctx context.Context, org core.Org, w definitions.Work, within func(context.Context) error) error {
	return inOne(ctx, s.Transactor, func(ctx context.Context) error {
		t := together(w.Change, w.Save, w.Origin)
		t.Broken = map[string]string{}
		for key := range w.Broken {
			t.Broken[key] = w.Reason(key)
		}
		for i := range t.Definitions {
			if w.Origin == core.GitOrigin {
				t.Definitions[i].SourcePath = w.Paths[t.Definitions[i].Key]
			}
		}
		if err := s.Segments.SaveAll(ctx, org.ID, t); err != nil {
			return err
		}
		for _, key := range w.Remove {
			if err := s.Segments.Archive(ctx, org.ID, key); err != nil {
				return about(definitions.KindSegment, key, err)
			}
		}
		return nil
	}, within)
}

// usedBy returns a function that returns the keys of the segments that test an attribute. wanted has
// the definitions of a bundle, whose names the segments may use.
func (s subjects) usedBy(ctx context.Context, orgID string, wanted *definitions.Set) (func(all []definitions.Segment, attribute string) []string, error) {
	schema, err := s.Schemas.WorkflowSchema(ctx, orgID)
	if err != nil {
		return nil, err
	}
	names, c := schema.Schema, definitions.Change{Wanted: wanted}
	namesAfter(c)(&names)
	segmentsAfter(&names, c)
	tested := map[string][]string{}
	return func(all []definitions.Segment, attribute string) []string {
		var users []string
		for _, g := range all {
			reads, known := tested[g.Predicate]
			if !known {
				if checked, err := predicate.Compile(g.Predicate, names); err == nil {
					reads = checked.References().Attributes
				}
				tested[g.Predicate] = reads
			}
			if slices.Contains(reads, attribute) {
				users = append(users, g.Key)
			}
		}
		return users
	}, nil
}
