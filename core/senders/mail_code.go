package senders

import (
	"context"
	"fmt"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/jobs"
	"github.com/mailhelm/mailhelm/core/letters"
)

// MailCodeArgs is the argument of the job that mails a code. It does not contain the code.
type MailCodeArgs struct {
	OrgID   string `json:"org_id"`
	ClaimID string `json:"claim_id"`
	StartID string `json:"start_id"`
}

// Kind returns the name of the job that mails a code.
func (MailCodeArgs) Kind() string { return "senders_mail_code" }

// Worker returns the worker that mails codes. It mails nothing if the start is over: the
// address is verified or locked, the time of the code has passed, or the owner started again.
// Each attempt mails a new code, which replaces the code of an attempt that failed.
func (s *Senders) Worker() jobs.Worker[MailCodeArgs] {
	return jobs.Worker[MailCodeArgs]{Work: s.mailCode}
}

func (s *Senders) mailCode(ctx context.Context, args MailCodeArgs) error {
	if s.Letters == nil {
		return nil
	}
	code, err := newCode()
	if err != nil {
		return err
	}
	var claim Claim
	open := false
	err = s.Transactor.InTx(ctx, func(ctx context.Context) (err error) {
		open = false
		if claim, err = s.Store.Claim(ctx, args.OrgID, args.ClaimID); core.IsNotFound(err) {
			return nil
		}
		if err != nil || claim.StartID != args.StartID || claim.Status() != Pending || !s.Clock().Before(claim.CodeExpiresAt) {
			return err
		}
		open, claim.CodeHash = true, s.hashCode(claim, code)
		return s.Store.UpdateClaim(ctx, args.OrgID, claim)
	})
	if err != nil || !open {
		return err
	}
	org, err := s.Orgs.Org(ctx, args.OrgID)
	if err != nil {
		return fmt.Errorf("organization: %w", err)
	}
	person, err := s.nameOf(ctx, claim.Owner)
	if err != nil {
		return err
	}
	return s.Letters.Send(ctx, letters.SenderCode(claim.Email, code, org.Name, person))
}

// nameOf returns the address of a person, "" for the owner of claims that is an API key.
func (s *Senders) nameOf(ctx context.Context, owner string) (string, error) {
	user, err := s.People.UserByID(ctx, owner)
	if core.IsNotFound(err) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("person: %w", err)
	}
	return user.Email, nil
}
