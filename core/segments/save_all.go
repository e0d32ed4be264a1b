package segments

import (
	"context"
	"maps"
	"slices"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/predicatelint"
)

// Together is a number of segments that are saved at the same time, and may test each other.
type Together struct {
	Definitions []Definition
	// Broken has why segments do not work, by their keys. They are saved as [Invalid], with that
	// warning.
	Broken map[string]string
	// Names changes the names that predicates may use into those after other changes that are made
	// together with the segments. nil changes nothing.
	Names func(*predicate.Schema)
}

// Findings is what a check of a definition has found. A definition with faults cannot be saved.
// Faults of other parts than the predicate have no line.
type Findings struct {
	Faults   []Fault
	Warnings []Lint
}

// compiled is the result of compiling the predicate of a definition.
type compiled struct {
	checked *predicate.Checked
	fault   error
}

// CheckAll checks segments that are to be saved together, and returns what it has found by their keys.
func (s *Segments) CheckAll(ctx context.Context, org core.Org, t Together) (map[string]Findings, error) {
	stored, results, err := s.compileAll(ctx, org.ID, t)
	if err != nil {
		return nil, err
	}
	facts, tests := lintFacts(org, s.Clock()), testsAfter(stored, t.Definitions)
	found := make(map[string]Findings, len(t.Definitions))
	for _, d := range t.Definitions {
		var f Findings
		for _, field := range core.FieldsOf(d.check()) {
			f.Faults = append(f.Faults, Fault{Message: "`" + field.Field + "` " + field.Reason})
		}
		switch r := results[d.Key]; {
		case r.fault != nil:
			for _, fault := range predicate.FaultsOf(r.fault) {
				f.Faults = append(f.Faults, newFault(fault))
			}
		case isCircular(tests, d.Key):
			f.Faults = append(f.Faults, Fault{Message: "it tests itself, directly or through other segments", Line: 1, Column: 1})
		default:
			facts.Key, facts.Tests = d.Key, tests
			f.Warnings = lintOf(predicatelint.Check(r.checked, facts))
		}
		found[d.Key] = f
	}
	return found, nil
}

// SaveAll is [Segments.Save] for segments that may test each other, in one transaction. It may replace
// definitions from a repository, and definitions from the API by those from a repository.
func (s *Segments) SaveAll(ctx context.Context, orgID string, t Together) error {
	return s.Transactor.InTx(ctx, func(ctx context.Context) error {
		if err := s.Store.LockSegments(ctx, orgID); err != nil {
			return err
		}
		stored, results, err := s.compileAll(ctx, orgID, t)
		if err != nil {
			return err
		}
		tests := testsAfter(stored, t.Definitions)
		for _, d := range t.Definitions {
			reason, isBroken := t.Broken[d.Key]
			switch r := results[d.Key]; {
			case isBroken:
				err = s.saveBroken(ctx, orgID, d, stored, reason)
			case r.fault != nil:
				err = invalidPredicate(r.fault)
			case isCircular(tests, d.Key):
				err = core.Invalid("source", "tests the segment itself, directly or through other segments")
			default:
				if err = d.check(); err == nil {
					_, err = s.put(ctx, orgID, d.applyTo(withKey(stored, d.Key), r.checked.EvalClass()))
				}
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// saveBroken stores a segment whose predicate does not work.
func (s *Segments) saveBroken(ctx context.Context, orgID string, d Definition, stored []Segment, reason string) error {
	g, now := d.applyTo(withKey(stored, d.Key), predicate.Both), s.Clock()
	g.Status, g.EvalWarning, g.EvalWarningAt = Invalid, reason, &now
	_, err := s.put(ctx, orgID, g)
	return err
}

// put stores a segment, which is new if it has no id.
func (s *Segments) put(ctx context.Context, orgID string, g Segment) (Segment, error) {
	g.UpdatedAt = s.Clock()
	if g.ID != "" {
		return g, s.Store.UpdateSegment(ctx, orgID, g)
	}
	g.ID, g.CreatedAt = core.NewID(), g.UpdatedAt
	return g, s.Store.InsertSegment(ctx, orgID, g)
}

// withKey returns the segment with the key, or the zero Segment.
func withKey(all []Segment, key string) Segment {
	if at := slices.IndexFunc(all, func(s Segment) bool { return s.Key == key }); at >= 0 {
		return all[at]
	}
	return Segment{}
}

// compileAll returns the stored segments, and the compiled predicates by the keys of their segments.
func (s *Segments) compileAll(ctx context.Context, orgID string, t Together) (stored []Segment, results map[string]compiled, err error) {
	schema, err := s.Store.PredicateSchema(ctx, orgID)
	if err != nil {
		return nil, nil, err
	}
	if schema.Activities, err = s.Store.SeenActivities(ctx, orgID); err != nil {
		return nil, nil, err
	}
	if stored, err = s.Store.AllSegments(ctx, orgID); err != nil {
		return nil, nil, err
	}
	names := schema.Schema
	if t.Names != nil {
		t.Names(&names)
	}
	names.Segments = maps.Clone(names.Segments)
	for _, d := range t.Definitions {
		if names.Segments[d.Key] == "" {
			names.Segments[d.Key] = d.Key
		}
		delete(names.Archived, predicate.Archived{Kind: predicate.SegmentSet, Key: d.Key})
	}
	results = make(map[string]compiled, len(t.Definitions))
	for _, d := range t.Definitions {
		var r compiled
		r.checked, r.fault = predicate.Compile(d.Source, names)
		results[d.Key] = r
	}
	return stored, results, nil
}

// testsAfter maps the key of each segment to those of the segments that its predicate tests, after the
// definitions are saved.
func testsAfter(stored []Segment, all []Definition) map[string][]string {
	tests := testsOf(stored, "")
	for _, d := range all {
		delete(tests, d.Key)
		if tree, err := predicate.Parse(d.Source); err == nil {
			tests[d.Key] = tree.SegmentKeys()
		}
	}
	return tests
}

// isCircular reports whether a segment tests itself, directly or through others.
func isCircular(tests map[string][]string, key string) bool {
	return len(predicatelint.Path(tests, tests[key], key)) > 0
}

// Archive archives the segment with the key, in any state. It does nothing if there is none.
func (s *Segments) Archive(ctx context.Context, orgID, key string) error {
	return s.Transactor.InTx(ctx, func(ctx context.Context) error {
		if err := s.Store.LockSegments(ctx, orgID); err != nil {
			return err
		}
		g, err := s.Store.Segment(ctx, orgID, key)
		if core.IsNotFound(err) || err == nil && g.Status == Archived {
			return nil
		}
		if err != nil {
			return err
		}
		g.Status, g.Stale = Archived, false
		_, err = s.put(ctx, orgID, g)
		return err
	})
}
