package senders

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
)

// ListIn has the size and the cursor of a page.
type ListIn struct {
	Limit  int    `json:"limit,omitempty" jsonschema:"minimum=1,maximum=200,default=50" jsonschema_description:"Greatest number of items in the answer."`
	Cursor string `json:"cursor,omitempty" jsonschema:"maxLength=1024" jsonschema_description:"Cursor: next_cursor of the previous page."`
}

func (s *Senders) list() core.Operation {
	return core.Declare(core.Op[ListIn, core.Page[VerifiedSender]]{
		Name:    "verified_senders_list",
		Title:   "List your verified senders",
		Purpose: "Lists the addresses that you have verified or started to verify in this organization, newest first. It does not list those of other members.",
		Example: `{}`,
		Effect:  core.Reads,
		Cost:    core.Light,
		Scopes:  []core.Scope{core.InboxesView},
		Do: func(ctx context.Context, c *core.Call, in ListIn) (core.Page[VerifiedSender], error) {
			owner, err := ownerOf(c.Principal)
			if err != nil {
				return core.Page[VerifiedSender]{}, err
			}
			return core.ReadPage("verified_senders "+owner, in.Cursor, in.Limit, func(after *core.After, limit int) ([]VerifiedSender, error) {
				claims, err := s.Store.Claims(ctx, c.Principal.Org.ID, owner, after, limit)
				shown := make([]VerifiedSender, len(claims))
				for i, claim := range claims {
					shown[i] = claim.view()
				}
				return shown, err
			}, func(v VerifiedSender) core.After { return core.After{At: v.CreatedAt, ID: v.ID} })
		},
	})
}
