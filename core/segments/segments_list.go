package segments

import (
	"context"
	"fmt"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/predicate"
)

// ListSegmentsIn has the filters, the page size and the cursor for a page of segments.
type ListSegmentsIn struct {
	Status Status `json:"status,omitempty" only:"agent" jsonschema:"enum=active,enum=paused,enum=invalid,enum=archived" jsonschema_description:"Only segments with this status. Default: all."`
	Query  string `json:"query,omitempty" only:"agent" jsonschema:"maxLength=100" jsonschema_description:"Only segments with this text in their name or key, in any case. Default: all."`
	Limit  int    `json:"limit,omitempty" jsonschema:"minimum=1,maximum=200,default=50" jsonschema_description:"Greatest number of items in the answer."`
	Cursor string `json:"cursor,omitempty" only:"rest" jsonschema:"maxLength=1024" jsonschema_description:"Cursor: next_cursor of the previous page."`
}

// SegmentPage is a page of segments. Agents get each segment in the shorter form [Brief].
type SegmentPage struct{ core.Page[Segment] }

// Brief has the fields of a segment that agents get.
type Brief struct {
	ID              string              `json:"id" jsonschema:"format=uuid"`
	Key             string              `json:"key" voice:"untrusted"`
	Name            string              `json:"name" voice:"untrusted"`
	Source          string              `json:"source" voice:"untrusted"`
	EvalClass       predicate.EvalClass `json:"eval_class" jsonschema:"enum=incremental,enum=sweep,enum=both"`
	Status          Status              `json:"status" jsonschema:"enum=active,enum=paused,enum=invalid,enum=archived"`
	EvalWarning     string              `json:"eval_warning,omitempty" voice:"untrusted"`
	MemberCount     int                 `json:"member_count"`
	LastEvaluatedAt *time.Time          `json:"last_evaluated_at,omitempty"`
}

// AgentView returns the page for agents, with each segment as [Brief].
func (p SegmentPage) AgentView() core.Sample[Brief] {
	brief := core.Page[Brief]{Next: p.Next, Total: p.Total}
	for _, s := range p.Items {
		brief.Items = append(brief.Items, Brief{s.ID, s.Key, s.Name, s.Source, s.EvalClass, s.Status, s.EvalWarning, s.MemberCount, s.LastEvaluatedAt})
	}
	return brief.AgentView()
}

func (s *Segments) segmentsList() core.Operation {
	return core.Declare(core.Op[ListSegmentsIn, SegmentPage]{
		Name:  "segments_list",
		Title: "List the segments",
		Purpose: "Lists the organization's segments. Use it to find a segment or its id. " +
			"Returns predicates, states and member counts, newest first. It shows no members.",
		Example: `{"limit": 2}`,
		Effect:  core.Reads,
		Cost:    core.Light,
		Scopes:  []core.Scope{core.SegmentsView},
		Do:      s.listSegments,
	})
}

func (s *Segments) listSegments(ctx context.Context, c *core.Call, in ListSegmentsIn) (SegmentPage, error) {
	org, f := c.Principal.Org.ID, Filter{Status: in.Status, Query: in.Query}
	page, err := core.ReadPage(fmt.Sprintf("segments %q %q", in.Status, in.Query), in.Cursor, in.Limit, func(after *core.After, limit int) ([]Segment, error) {
		f.After, f.Limit = after, limit
		return s.Store.Segments(ctx, org, f)
	}, func(s Segment) core.After { return core.After{At: s.CreatedAt, ID: s.ID} })
	if err == nil && c.Surface == core.Agent {
		page.Total, err = s.Store.CountSegments(ctx, org, f)
	}
	return SegmentPage{page}, err
}
