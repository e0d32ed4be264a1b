package segments

import (
	"context"
	"fmt"

	"github.com/mailhelm/mailhelm/core"
)

// ListSegmentsIn narrows and pages the segments.
type ListSegmentsIn struct {
	Status Status `json:"status,omitempty" only:"agent" jsonschema:"enum=active,enum=paused,enum=invalid,enum=archived" jsonschema_description:"Only these."`
	Query  string `json:"query,omitempty" only:"agent" jsonschema:"maxLength=100" jsonschema_description:"Part of a name or key, in any case."`
	Limit  int    `json:"limit,omitempty" jsonschema:"minimum=1,maximum=200,default=50" jsonschema_description:"How many."`
	Cursor string `json:"cursor,omitempty" only:"rest" jsonschema:"maxLength=1024" jsonschema_description:"Where to go on, from the previous page."`
}

func (s *Segments) segmentsList() core.Operation {
	return core.Declare(core.Op[ListSegmentsIn, core.Page[Segment]]{
		Name:  "segments_list",
		Title: "List the segments",
		Purpose: "Lists the organization's segments. Use it to find a segment or its id, or one that broke. " +
			"Returns predicates, states and member counts, newest first. It shows no members.",
		Effect: core.Reads,
		Scopes: []core.Scope{core.SegmentsView},
		Do:     s.listSegments,
	})
}

func (s *Segments) listSegments(ctx context.Context, c *core.Call, in ListSegmentsIn) (core.Page[Segment], error) {
	org, filter := c.Principal.Org.ID, fmt.Sprintf("segments %q %q", in.Status, in.Query)
	after, err := core.AfterCursor(filter, in.Cursor)
	if err != nil {
		return core.Page[Segment]{}, err
	}
	limit := core.Limit(in.Limit)
	f := Filter{Status: in.Status, Query: in.Query, After: after, Limit: limit + 1}
	rows, err := s.Store.Page(ctx, org, f)
	if err != nil {
		return core.Page[Segment]{}, err
	}
	page := core.PageOf(rows, limit, filter, func(s Segment) core.After { return core.After{At: s.CreatedAt, ID: s.ID} })
	if c.Surface == core.Agent {
		page.Total, err = s.Store.Count(ctx, org, f)
	}
	return page, err
}
