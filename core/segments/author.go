package segments

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/predicatelint"
)

// Author reads what a person needs who writes the predicate of a segment. It changes
// nothing. Every method sees only the given organization.
type Author struct {
	Store   Store
	Members MemberStore
	Clock   core.Clock
}

// Review is what can be said about the text of a predicate without evaluating it.
type Review struct {
	// Names are the names that predicates of the organization may use.
	Names predicate.Schema
	// Faults are the reasons why the predicate does not compile. If there are any, the
	// members below are empty.
	Faults []*predicate.Error
	// Words is a sentence that says which contacts match, and Parts says it test by test.
	Words string
	Parts *predicate.Part
	// EvalClass says what can change which contacts match.
	EvalClass predicate.EvalClass
	Warnings  []predicate.Warning
	// Weight is the estimated cost of an evaluation.
	Weight predicate.Weight
}

// Review compiles a predicate and returns its faults, or its words and warnings. key is the
// key of the segment that has the predicate, "" if it has none yet. The warnings then leave
// out whether the segment tests itself.
func (a Author) Review(ctx context.Context, org core.Org, key, source string) (Review, error) {
	schema, err := a.Names(ctx, org.ID)
	if err != nil {
		return Review{}, err
	}
	checked, err := predicate.Compile(source, schema)
	if err != nil {
		return Review{Names: schema, Faults: predicate.FaultsOf(err)}, nil
	}
	facts := lintFacts(org, a.Clock())
	if key != "" && len(checked.Tree().SegmentKeys()) > 0 {
		all, err := a.Store.AllSegments(ctx, org.ID)
		if err != nil {
			return Review{}, err
		}
		facts.Key, facts.Tests = key, testsOf(all, key)
	}
	return Review{
		Names: schema, Words: checked.Explain(), Parts: checked.Parts(), EvalClass: checked.EvalClass(), Warnings: predicatelint.Check(checked, facts), Weight: checked.Weigh(),
	}, nil
}

// lintFacts returns the facts on which warnings about predicates of the organization
// depend, without other segments.
func lintFacts(org core.Org, now time.Time) predicatelint.Facts {
	return predicatelint.Facts{Now: now, ActivityDays: core.ActivityDays(org.RetentionDays), MessageDays: core.MessageDays(org.RetentionDays)}
}

// Names returns the names that predicates of the organization may use, with the names of
// recorded activities.
func (a Author) Names(ctx context.Context, orgID string) (predicate.Schema, error) {
	schema, err := a.Store.PredicateSchema(ctx, orgID)
	if err != nil {
		return predicate.Schema{}, err
	}
	schema.Activities, err = a.Store.SeenActivities(ctx, orgID)
	return schema.Schema, err
}

// Dependents returns the segments whose predicate tests the segment with the key, in the
// order of their creation. It omits archived segments.
func (a Author) Dependents(ctx context.Context, orgID, key string) ([]Segment, error) {
	all, err := a.Store.AllSegments(ctx, orgID)
	if err != nil {
		return nil, err
	}
	var dependents []Segment
	for _, segment := range all {
		tree, err := predicate.Parse(segment.Source)
		if err == nil && segment.Status != Archived && slices.Contains(tree.SegmentKeys(), key) {
			dependents = append(dependents, segment)
		}
	}
	return dependents, nil
}

// Find returns a page of the segments that match a filter, newest first, with the number of
// all that match. The fields After and Limit of the filter are not used. Find fails with
// core.CodeValidationFailed for an invalid cursor.
func (a Author) Find(ctx context.Context, orgID string, f Filter, cursor string, limit int) (core.Page[Segment], error) {
	page, err := core.ReadPage(fmt.Sprintf("find segments %q %q", f.Status, f.Query), cursor, limit, func(after *core.After, limit int) ([]Segment, error) {
		f.After, f.Limit = after, limit
		return a.Store.Segments(ctx, orgID, f)
	}, func(s Segment) core.After { return core.After{At: s.CreatedAt, ID: s.ID} })
	if err == nil {
		page.Total, err = a.Store.CountSegments(ctx, orgID, f)
	}
	return page, err
}

// Segment returns the segment with an id or a key. It fails with core.CodeNotFound for an
// unknown one.
func (a Author) Segment(ctx context.Context, orgID, ref string) (Segment, error) {
	return a.Store.Segment(ctx, orgID, ref)
}
