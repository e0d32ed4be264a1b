package segments

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
)

// GetSegmentIn names a segment.
type GetSegmentIn struct {
	ID string `json:"id" jsonschema:"minLength=1,maxLength=64" jsonschema_description:"Id of the segment, or its key."`
}

func (s *Segments) segmentsGet() core.Operation {
	return core.Declare(core.Op[GetSegmentIn, Segment]{
		Name:    "segments_get",
		Title:   "Read a segment",
		Purpose: "Reads one segment: its predicate, state and member count. It shows no members.",
		Example: `{"id": "good-customers"}`,
		Effect:  core.Reads,
		Cost:    core.Light,
		Scopes:  []core.Scope{core.SegmentsView},
		Fails:   []core.Code{core.CodeNotFound},
		Do: func(ctx context.Context, c *core.Call, in GetSegmentIn) (Segment, error) {
			return s.Store.Segment(ctx, c.Principal.Org.ID, in.ID)
		},
	})
}
