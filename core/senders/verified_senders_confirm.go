package senders

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
)

// ConfirmIn is a code for a claim.
type ConfirmIn struct {
	ID   string `json:"id" jsonschema:"minLength=1,maxLength=64" jsonschema_description:"Id of the claim."`
	Code string `json:"code" jsonschema:"pattern=^[0-9]{6}$" jsonschema_description:"The six digits from the mail."`
}

func (s *Senders) confirm() core.Operation {
	return core.Declare(core.Op[ConfirmIn, VerifiedSender]{
		Name:  "verified_senders_confirm",
		Title: "Confirm a sender",
		Purpose: "Verifies an address with the code that was mailed to it. Five wrong codes lock the claim; then call verified_senders_create again. " +
			"A verified address stays verified, whatever the code. Returns the claim.",
		Example: `{"id": "0198c7a2-5d3e-7a01-8b00-2f61c0d4a106", "code": "123456"}`,
		Effect:  core.Writes,
		// A stored call would contain a hash of the code. A repetition changes nothing anyway.
		IgnoresKey: true,
		Scopes:     []core.Scope{core.InboxesManage},
		Fails:      []core.Code{core.CodeNotFound},
		Prepare:    s.countWrong,
		Do: func(ctx context.Context, c *core.Call, in ConfirmIn) (VerifiedSender, error) {
			claim, err := s.own(ctx, c.Principal, in.ID)
			if err != nil {
				return VerifiedSender{}, err
			}
			if claim.VerifiedAt == nil {
				// Since countWrong, other calls may have locked the claim or started it again.
				if _, err := s.checkCode(claim, in.Code, c.Now); err != nil {
					return VerifiedSender{}, err
				}
				claim.verify(c.Now)
				if err := s.Store.UpdateClaim(ctx, c.Principal.Org.ID, claim); err != nil {
					return VerifiedSender{}, err
				}
			}
			c.SetSubject(claim.ID)
			return claim.view(), nil
		},
	})
}

// countWrong refuses a code that does not verify the claim, and counts a wrong one. It runs in
// a transaction of its own, because a refused call rolls back the transaction of the call.
func (s *Senders) countWrong(ctx context.Context, c *core.Call, in ConfirmIn) (ConfirmIn, error) {
	var refused error
	err := s.Transactor.InTx(ctx, func(ctx context.Context) error {
		refused = nil
		claim, err := s.own(ctx, c.Principal, in.ID)
		if err != nil || claim.VerifiedAt != nil {
			return err
		}
		var wrong bool
		if wrong, refused = s.checkCode(claim, in.Code, c.Now); !wrong {
			return nil
		}
		claim.WrongCodes++
		return s.Store.UpdateClaim(ctx, c.Principal.Org.ID, claim)
	})
	if err == nil {
		err = refused
	}
	return in, err
}
