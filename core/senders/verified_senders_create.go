package senders

import (
	"context"
	"fmt"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// CreateIn names the address to verify.
type CreateIn struct {
	Email string `json:"email" jsonschema:"minLength=1,maxLength=320" jsonschema_description:"The address, without a display name."`
}

func (s *Senders) create() core.Operation {
	return core.Declare(core.Op[CreateIn, VerifiedSender]{
		Name:  "verified_senders_create",
		Title: "Verify a sender",
		Purpose: "Mails a code of six digits to an address, with which its owner proves the mailbox. Use it for an address in `allowed_senders` of a temporary inbox. " +
			"A repetition mails a new code and ends the old one; a verified address stays as it is and gets no mail. Returns the claim. It does not return the code.",
		Example:       `{"email": "ada@example.com"}`,
		Effect:        core.Writes,
		ReachesPeople: true,
		Scopes:        []core.Scope{core.InboxesManage},
		Fails:         []core.Code{core.CodeConflict, core.CodeRateLimited, core.CodeUpstreamUnavailable},
		Do:            s.start,
	})
}

// start claims the address, or starts the verification of the caller's claim again.
func (s *Senders) start(ctx context.Context, c *core.Call, in CreateIn) (VerifiedSender, error) {
	owner, err := ownerOf(c.Principal)
	if err != nil {
		return VerifiedSender{}, err
	}
	email, ok := core.CanonicalEmail(in.Email)
	if !ok {
		return VerifiedSender{}, core.Invalid("email", "is "+core.Quote(in.Email)+", which is no plain address such as ada@example.com, without a display name")
	}
	if s.Letters == nil {
		return VerifiedSender{}, errNoMail()
	}
	claim, err := s.claim(ctx, c, owner, email)
	if err != nil {
		return VerifiedSender{}, err
	}
	c.SetSubject(claim.ID)
	return claim.view(), nil
}

// noMailRetryAfter is when a client may ask again, because the operator may have set a mail
// server by then. Every answer with this code has such a time.
const noMailRetryAfter = time.Hour

// errNoMail is the error of a server without a mail server of its own.
func errNoMail() error {
	return &core.Error{
		Code: core.CodeUpstreamUnavailable, RetryAfter: noMailRetryAfter,
		Message: "This server cannot mail the code: it has no mail server of its own.",
		Next:    "Ask the operator of this server to set MAILHELM_SYSTEM_SMTP and MAILHELM_SYSTEM_FROM. Codes never leave through the sending account of an organization.",
	}
}

// claim returns the owner's claim of the address, with a started verification unless it is
// verified. A transaction of another caller may claim the address between the read and the
// insert; the second attempt then finds that claim.
func (s *Senders) claim(ctx context.Context, c *core.Call, owner, email string) (Claim, error) {
	for range 2 {
		claim, found, err := s.findClaim(ctx, c, owner, email)
		if err != nil || claim.VerifiedAt != nil {
			return claim, err
		}
		claim.start(email, c.Now)
		if found {
			err = s.Store.UpdateClaim(ctx, c.Principal.Org.ID, claim)
		} else if found, err = s.Store.InsertClaim(ctx, c.Principal.Org.ID, claim); err == nil && !found {
			continue
		}
		if err != nil {
			return Claim{}, err
		}
		return claim, s.requestCode(ctx, c, claim)
	}
	return Claim{}, core.Conflict("Another call claimed and released this address at the same moment.", "Repeat the call.")
}

// mailboxRetryAfter is when a client may ask again for a mailbox that got too many codes. It does
// not depend on the earlier codes: the exact time would reveal when other organizations asked.
const mailboxRetryAfter = time.Hour

// errMailboxFull is the error for a mailbox that got too many codes.
func errMailboxFull() error {
	return &core.Error{
		Code: core.CodeRateLimited, RetryAfter: mailboxRetryAfter,
		Message: "Too many codes were sent to this address recently.",
		Next:    "Use the code of the latest mail, or repeat after `Retry-After` seconds. It can take a day.",
	}
}

// findClaim returns the owner's claim of the address, or a new one that is not stored, with
// false. It fails with core.CodeConflict if another owner has claimed the address. It deletes
// a claim of another owner that has lapsed, or whose owner has left the organization.
func (s *Senders) findClaim(ctx context.Context, c *core.Call, owner, email string) (claim Claim, found bool, err error) {
	org := c.Principal.Org.ID
	claim, err = s.Store.ClaimOf(ctx, org, core.EmailKey(email))
	switch {
	case core.IsNotFound(err):
	case err != nil:
		return Claim{}, false, err
	case claim.Owner == owner:
		return claim, true, nil
	default:
		active, err := s.Store.IsActive(ctx, org, claim.Owner, c.Now)
		if err != nil {
			return Claim{}, false, err
		}
		if active && !claim.hasLapsed(c.Now) {
			return Claim{}, false, core.Conflict("Another member of this organization has claimed "+core.Quote(email)+".",
				"Use another address, or ask that member to remove the claim.")
		}
		if err := s.Store.DeleteClaim(ctx, org, claim.ID); err != nil {
			return Claim{}, false, err
		}
	}
	return Claim{ID: core.NewID(), Owner: owner, CreatedAt: c.Now}, false, nil
}

// requestCode counts the start and enqueues the job that mails the code. It fails with
// core.CodeRateLimited after StartsPerHour starts of the owner in an hour, and after CodesPerHour
// or CodesPerDay starts for the mailbox.
func (s *Senders) requestCode(ctx context.Context, c *core.Call, claim Claim) error {
	next, err := s.Starts.AddStart(ctx, claim.Owner, c.Now, ownerLimits...)
	if err != nil {
		return err
	}
	if !next.IsZero() {
		return &core.Error{
			Code: core.CodeRateLimited, RetryAfter: next.Sub(c.Now),
			Message: fmt.Sprintf("You have requested %d codes within an hour, which is the maximum.", StartsPerHour),
			Next:    "Wait for `Retry-After` seconds, then repeat.",
		}
	}
	next, err = s.Starts.AddStart(ctx, s.hashMailbox(claim.Email), c.Now, mailboxLimits...)
	if err != nil {
		return err
	}
	if !next.IsZero() {
		return errMailboxFull()
	}
	return s.Queue.Enqueue(ctx, MailCodeArgs{OrgID: c.Principal.Org.ID, ClaimID: claim.ID, StartID: claim.StartID})
}
