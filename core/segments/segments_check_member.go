package segments

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
)

// CheckMemberIn has the segment and the contact whose membership is checked.
type CheckMemberIn struct {
	ID      string `json:"id" jsonschema:"minLength=1,maxLength=64" jsonschema_description:"Id of the segment, or its key."`
	Contact string `json:"contact" jsonschema:"minLength=1,maxLength=254" jsonschema_description:"Id of the contact, or its percent-encoded address."`
}

// Membership states whether a contact is in a segment.
type Membership struct {
	IsMember bool `json:"is_member"`
}

func (s *Segments) segmentsCheckMember() core.Operation {
	return core.Declare(core.Op[CheckMemberIn, Membership]{
		Name:    "segments_check_member",
		Title:   "Check one contact's membership",
		Purpose: "Returns whether a contact is in a segment. An unknown contact is in no segment. An unknown segment is `not_found`.",
		Example: `{"id": "good-customers", "contact": "ada.almeida@example.com"}`,
		Effect:  core.Reads,
		Cost:    core.Light,
		Scopes:  []core.Scope{core.SegmentsView},
		Fails:   []core.Code{core.CodeNotFound},
		Do:      s.checkMember,
	})
}

func (s *Segments) checkMember(ctx context.Context, c *core.Call, in CheckMemberIn) (Membership, error) {
	if err := core.CheckContactRef(in.Contact); err != nil {
		return Membership{}, err
	}
	org := c.Principal.Org.ID
	segment, err := s.Store.Segment(ctx, org, in.ID)
	if err != nil {
		return Membership{}, err
	}
	is, err := s.Members.IsSegmentMember(ctx, org, segment.ID, in.Contact)
	return Membership{is}, err
}
