package segments

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// Standing says whether a contact is in a segment, and why.
type Standing struct {
	Segment Segment
	// Since is the time since which the contact is a member, nil if it is none.
	Since *time.Time
	// Why has the parts of the predicate with their results now. It is nil if the predicate
	// does not compile or the contact is archived.
	Why *Finding
}

// Standings reads in which segments a contact is, and why.
type Standings struct{ *Segments }

// NewStandings returns the standings of contacts in the segments.
func NewStandings(s *Segments) Standings { return Standings{s} }

// StandingsOf returns a page of the segments that are not archived, with the contact's
// standing in each: first those that the contact is in, each group in order of their names.
// from is the number of segments to skip, and limit the maximum number to explain. total is
// the number of all these segments.
func (s Standings) StandingsOf(ctx context.Context, orgID, contactID string, from, limit int) (page []Standing, total int, err error) { //nolint:nonamedreturns // says which
	all, err := s.Store.AllSegments(ctx, orgID)
	if err != nil {
		return nil, 0, err
	}
	since, err := s.Members.SegmentsSince(ctx, orgID, contactID)
	if err != nil {
		return nil, 0, err
	}
	schema, err := s.Store.PredicateSchema(ctx, orgID)
	if err != nil {
		return nil, 0, err
	}
	all = slices.DeleteFunc(all, func(g Segment) bool { return g.Status == Archived })
	for _, g := range sortByStanding(all, since)[min(from, len(all)):min(from+limit, len(all))] {
		standing := Standing{Segment: g}
		if at, is := since[g.ID]; is {
			standing.Since = &at
		}
		why, err := s.explain(ctx, orgID, g, schema, contactID)
		switch {
		case err == nil:
			standing.Why = &why.Finding
		case core.IsNotFound(err) || core.AsError(err).Code == core.CodeValidationFailed: // nothing to explain
		default:
			return nil, 0, err
		}
		page = append(page, standing)
	}
	return page, len(all), nil
}

// sortByStanding sorts segments: those that the contact is in first, then by name and id.
func sortByStanding(all []Segment, since map[string]time.Time) []Segment {
	slices.SortFunc(all, func(a, b Segment) int {
		_, inA := since[a.ID]
		_, inB := since[b.ID]
		switch {
		case inA && !inB:
			return -1
		case inB && !inA:
			return 1
		}
		return compareNames(a, b)
	})
	return all
}

func compareNames(a, b Segment) int {
	if order := strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)); order != 0 {
		return order
	}
	return strings.Compare(a.ID, b.ID)
}
