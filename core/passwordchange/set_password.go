package passwordchange

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/letters"
	"github.com/mailhelm/mailhelm/core/passwords"
)

// SetPassword sets a person's password without the old one, for the operator. It ends the
// person's sessions and invalidates all links that reset the password. Second factors stay.
// It fails with validation_failed for a refused password.
func SetPassword(ctx context.Context, s Stores, by access.Actor, user access.User, password string) error {
	if err := passwords.CheckNew(password, user.Email); err != nil {
		return err
	}
	hash, err := passwords.Hash(password)
	if err != nil {
		return fmt.Errorf("hash password: %w", err)
	}
	return s.Tx.InTx(ctx, func(ctx context.Context) error {
		if err := s.Users.HoldUser(ctx, user.ID); err != nil {
			return err
		}
		if err := s.setPassword(ctx, user.ID, hash, nil); err != nil {
			return err
		}
		if err := s.Sessions.DeleteSessionsOf(ctx, user.ID); err != nil {
			return fmt.Errorf("end sessions: %w", err)
		}
		if err := s.Audit.AuditEverywhere(ctx, by, user.ID, "user.password_set", ""); err != nil {
			return err
		}
		return s.Notices.EnqueueNotice(ctx, user.ID, letters.PasswordSet, letters.Event{At: s.Clock()})
	})
}

// setPassword stores the hash of a new password and invalidates all links that reset the
// password. It deletes the person's known devices, except the one whose hash is the
// parameter here.
func (s Stores) setPassword(ctx context.Context, userID, hash string, here []byte) error {
	if err := s.Users.SetPassword(ctx, userID, hash); err != nil {
		return fmt.Errorf("set password: %w", err)
	}
	if err := s.Resets.DeleteResetsOf(ctx, userID); err != nil {
		return fmt.Errorf("void links of resets: %w", err)
	}
	if err := s.Devices.DeleteDevicesOf(ctx, userID, here); err != nil {
		return fmt.Errorf("forget devices: %w", err)
	}
	return nil
}

var errPasswordMoved = errors.New("the password was changed in between")

// holdWith locks a person until the transaction ends. It fails with conflict if the stored
// password hash is no longer the given one.
func (s Stores) holdWith(ctx context.Context, user access.User, hash string) error {
	if err := s.Users.HoldUser(ctx, user.ID); err != nil {
		return err
	}
	now, err := s.Users.UserByID(ctx, user.ID)
	if err != nil {
		return fmt.Errorf("person: %w", err)
	}
	if now.PasswordHash != hash {
		return &core.Error{
			Code: core.CodeConflict, Message: "The password was changed at the same moment in another browser.",
			Next: "Sign in with the new password.", Err: errPasswordMoved,
		}
	}
	return nil
}

// markOf returns a digest of a password hash. The digest is stored with a reset link. After
// the password has changed, the digest of its hash differs, and the link is invalid.
func markOf(passwordHash string) []byte {
	sum := sha256.Sum256([]byte("mailhelm password reset 1\x00" + passwordHash))
	return sum[:]
}
