package passwordchange

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/letters"
	"github.com/mailhelm/mailhelm/core/passwords"
)

var errReset = errors.New("unknown, used, expired or void link of a reset")

// noReset returns the error for an invalid reset link. It is the same for every cause, so
// that guessed links reveal nothing.
func noReset() error {
	return &core.Error{
		Code: core.CodeNotFound, Message: "This link is not valid. A link works once, and for 15 minutes.",
		Next: "Request a new link.", Err: errReset,
	}
}

// Resettable returns the person whose password a reset link can set. It does not use up the
// link, because mail scanners open links too. It fails with not_found, always with the same
// text, if the link is unknown, used or expired, if the person is disabled, or if the
// password has changed since the link was made.
func (p *Passwords) Resettable(ctx context.Context, secret string) (access.User, error) {
	if !access.IsLink(secret) {
		return access.User{}, noReset()
	}
	r, err := p.cfg.Resets.Reset(ctx, access.HashSecret(secret), p.cfg.Clock())
	if core.IsNotFound(err) {
		return access.User{}, noReset()
	}
	if err != nil {
		return access.User{}, fmt.Errorf("link of a reset: %w", err)
	}
	user, err := p.cfg.Users.UserByID(ctx, r.UserID)
	if core.IsNotFound(err) || err == nil && (user.DisabledAt != nil || !bytes.Equal(markOf(user.PasswordHash), r.Mark)) {
		return access.User{}, noReset()
	}
	if err != nil {
		return access.User{}, fmt.Errorf("person of a reset: %w", err)
	}
	return user, nil
}

// UseReset is the input of [Passwords.Reset].
type UseReset struct {
	Secret string // secret of the reset link
	Next   string // the new password
	// Client is the IP address or network of the request, for the notice.
	Client, RequestID string
}

// Reset sets the password of the person to whom a reset link belongs. It ends the person's
// sessions and invalidates all reset links of the person. It begins no session: the person
// signs in afterwards, with the second factor if there is one.
//
// It fails with not_found for an invalid link. It fails with validation_failed for a
// refused password, after which the link still works.
func (p *Passwords) Reset(ctx context.Context, in UseReset) error {
	user, err := p.Resettable(ctx, in.Secret)
	if err != nil {
		return err
	}
	if err := passwords.CheckNew(in.Next, user.Email); err != nil {
		return err
	}
	hash, err := p.cfg.Hasher.HashPassword(ctx, in.Next)
	if err != nil {
		return fmt.Errorf("hash password: %w", err)
	}
	s := p.cfg.Stores
	return s.Tx.InTx(ctx, func(ctx context.Context) error {
		err := s.holdWith(ctx, user, user.PasswordHash)
		if errors.Is(err, errPasswordMoved) {
			return noReset()
		}
		if err != nil {
			return err
		}
		if _, err := s.Resets.TakeReset(ctx, access.HashSecret(in.Secret), s.Clock()); err != nil {
			if core.IsNotFound(err) {
				return noReset()
			}
			return fmt.Errorf("take link of a reset: %w", err)
		}
		if err := s.setPassword(ctx, user.ID, hash, nil); err != nil {
			return err
		}
		if err := s.Sessions.DeleteSessionsOf(ctx, user.ID); err != nil {
			return fmt.Errorf("end sessions: %w", err)
		}
		if err := s.Audit.AuditEverywhere(ctx, access.ActorOf(user.ID), user.ID, "user.password_reset", in.RequestID); err != nil {
			return err
		}
		return s.Notices.EnqueueNotice(ctx, user.ID, letters.PasswordReset, letters.Event{At: s.Clock(), From: in.Client})
	})
}
