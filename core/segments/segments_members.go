package segments

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
)

// ListMembersIn has the segment, the size and the cursor of a page of its members.
type ListMembersIn struct {
	ID     string `json:"id" jsonschema:"minLength=1,maxLength=64" jsonschema_description:"Id of the segment, or its key."`
	Limit  int    `json:"limit,omitempty" jsonschema:"minimum=1,maximum=200,default=50" jsonschema_description:"Greatest number of items in the answer."`
	Cursor string `json:"cursor,omitempty" jsonschema:"maxLength=1024" jsonschema_description:"Cursor: next_cursor of the previous page."`
}

func (s *Segments) segmentsMembers() core.Operation {
	return core.Declare(core.Op[ListMembersIn, core.Page[Member]]{
		Name:    "segments_members",
		Title:   "List the members of a segment",
		Purpose: "Pages through the contacts in a segment, most recently entered first. Changes of contacts appear with some delay.",
		Example: `{"id": "good-customers", "limit": 2}`,
		Effect:  core.Reads,
		Cost:    core.Light,
		Scopes:  []core.Scope{core.SegmentsView},
		Fails:   []core.Code{core.CodeNotFound},
		Do:      s.listMembers,
	})
}

func (s *Segments) listMembers(ctx context.Context, c *core.Call, in ListMembersIn) (core.Page[Member], error) {
	org := c.Principal.Org.ID
	segment, err := s.Store.Segment(ctx, org, in.ID)
	if err != nil {
		return core.Page[Member]{}, err
	}
	return core.ReadPage("segment members "+segment.ID, in.Cursor, in.Limit, func(after *core.After, limit int) ([]Member, error) {
		return s.Members.SegmentMembers(ctx, org, segment.ID, after, limit)
	}, func(m Member) core.After { return core.After{At: m.EnteredAt, ID: m.ContactID} })
}
