package senders

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
)

// DeleteIn names a claim.
type DeleteIn struct {
	ID string `json:"id" jsonschema:"minLength=1,maxLength=64" jsonschema_description:"Id of the claim."`
}

func (s *Senders) delete() core.Operation {
	return core.Declare(core.Op[DeleteIn, core.Deleted]{
		Name:    "verified_senders_delete",
		Title:   "Remove a verified sender",
		Purpose: "Removes one of your verified or claimed addresses. To undo it, verify the address again. It does not change inboxes that name the address.",
		Example: `{"id": "0198c7a2-5d3e-7a01-8b00-2f61c0d4a106"}`,
		Effect:  core.Writes,
		Scopes:  []core.Scope{core.InboxesManage},
		Fails:   []core.Code{core.CodeNotFound},
		Do: func(ctx context.Context, c *core.Call, in DeleteIn) (core.Deleted, error) {
			claim, err := s.own(ctx, c.Principal, in.ID)
			if err != nil {
				return core.Deleted{}, err
			}
			c.SetSubject(claim.ID)
			return core.Deleted{Deleted: true}, s.Store.DeleteClaim(ctx, c.Principal.Org.ID, claim.ID)
		},
	})
}
