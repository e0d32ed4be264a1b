package outgoing

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/broadcasts"
	"github.com/mailhelm/mailhelm/core/lists"
	"github.com/mailhelm/mailhelm/core/segments"
)

// Audiences finds lists and segments; it is a [broadcasts.Audiences].
type Audiences struct {
	Lists    lists.Store
	Segments segments.Store
}

// Audience returns the list or segment, unless it is archived.
func (a Audiences) Audience(ctx context.Context, orgID string, kind broadcasts.AudienceKind, ref string) (broadcasts.Audience, error) {
	if kind == broadcasts.List {
		found, err := a.Lists.List(ctx, orgID, ref)
		if err == nil && found.Status != listActive {
			err = core.NotFound("list")
		}
		return broadcasts.Audience{Kind: kind, ID: found.ID, Name: found.Name}, err
	}
	found, err := a.Segments.Segment(ctx, orgID, ref)
	if err == nil && found.Status == segments.Archived {
		err = core.NotFound("segment")
	}
	return broadcasts.Audience{Kind: kind, ID: found.ID, Name: found.Name, Warning: segmentWarning(found)}, err
}

// listActive is the status of a list that is not archived.
const listActive = "active"

// segmentWarning says why the members of a segment may not be up to date, "" for no reason.
func segmentWarning(s segments.Segment) string {
	switch {
	case s.Status == segments.Paused:
		return "The segment is paused, so its members are those of the time when it was paused."
	case s.Status == segments.Invalid:
		return "The predicate of the segment is invalid, so its members are those of the time before."
	case s.LastEvaluatedAt == nil:
		return "The segment was not evaluated yet, so it has no members. That takes some seconds after it was saved."
	}
	return ""
}
