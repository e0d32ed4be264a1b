package people

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/jobs"
	"github.com/mailhelm/mailhelm/core/letters"
	"github.com/mailhelm/mailhelm/core/passwords"
)

// PasswordsConfig has the dependencies of [Passwords]. All fields except Mails are
// required.
type PasswordsConfig struct {
	Sessions *Sessions
	Factors  *SecondFactors
	Store    Store
	// Queue accepts the jobs that send mail.
	Queue jobs.Queue
	// Mails is true if the workers have a [letters.Sender], so that mail can be sent.
	Mails bool
}

// Passwords changes and resets passwords. It is safe for use by several goroutines.
type Passwords struct{ cfg PasswordsConfig }

// NewPasswords returns a Passwords.
func NewPasswords(cfg PasswordsConfig) *Passwords { return &Passwords{cfg: cfg} }

// Change is the input of [Passwords.Change].
type Change struct {
	Visitor Visitor
	// Current and Next are the old password and the new one.
	Current, Next string
	// Client, Device and RequestID have the same meaning as in [SignInRequest].
	Client, Device, RequestID string
}

// Change sets the password of a person who is signed in. It ends the person's other
// sessions and invalidates all links that reset the password. It returns the new secret of
// this session.
//
// A person with a second factor must have confirmed with it recently; see [IsProofNeeded].
// Change fails with validation_failed for a wrong old password or a refused new one, with
// rate_limited after too many attempts, and with invalid_key if the session has ended.
func (p *Passwords) Change(ctx context.Context, c Change) (string, error) {
	if err := p.cfg.Factors.CheckProof(ctx, c.Visitor); err != nil {
		return "", err
	}
	s := p.cfg.Sessions
	user, err := s.ProvePassword(ctx, SignInRequest{
		Email: c.Visitor.User.Email, Password: c.Current, Client: c.Client, Device: c.Device,
	})
	if err != nil {
		return "", notTheCurrent(err)
	}
	if c.Next == c.Current {
		return "", &core.Error{
			Code: core.CodeValidationFailed, Message: "The new password is the same as the current one.", Next: "Choose another password.",
		}
	}
	if err := passwords.CheckNew(c.Next, user.Email); err != nil {
		return "", err
	}
	hash, err := s.HashPassword(ctx, c.Next)
	if err != nil {
		return "", fmt.Errorf("hash password: %w", err)
	}
	var secret string
	err = s.Tx.InTx(ctx, func(ctx context.Context) error {
		if err := holdWith(ctx, s.SessionsConfig, user, user.PasswordHash); err != nil {
			return err
		}
		if secret, err = s.KeepOnly(ctx, c.Visitor); err != nil {
			return err
		}
		var here []byte
		if access.IsLink(c.Device) {
			here = access.HashSecret(c.Device)
		}
		if err := setPassword(ctx, s.Users, p.cfg.Store, user.ID, hash, here); err != nil {
			return err
		}
		if err := s.AuditEverywhere(ctx, access.ActorOf(user.ID), user.ID, "user.password_changed", c.RequestID); err != nil {
			return err
		}
		return p.cfg.Queue.Enqueue(ctx, NoticeArgs{UserID: user.ID, Of: letters.PasswordChanged, At: s.Clock(), From: c.Client})
	})
	if err != nil {
		return "", err
	}
	return secret, nil
}

// notTheCurrent returns validation_failed for the error of a wrong password, and other
// errors unchanged. The text of the sign-in error does not fit, because it mentions an
// address and this form has none.
func notTheCurrent(err error) error {
	if core.AsError(err).Code != core.CodeInvalidKey {
		return err
	}
	return &core.Error{
		Code: core.CodeValidationFailed, Message: "The current password is wrong.",
		Next: "Type the password that you sign in with.", Err: err,
	}
}

// LastWarning returns the last warning about wrong passwords. It returns false if there was
// none within [WarningKept].
func (p *Passwords) LastWarning(ctx context.Context, userID string) (Warning, bool, error) {
	at, err := p.cfg.Store.WarnedAt(ctx, userID)
	if core.IsNotFound(err) || err == nil && p.cfg.Sessions.Clock().Sub(at) > WarningKept {
		return Warning{}, false, nil
	}
	return Warning{At: at}, err == nil, err
}

// OperatorConfig has the dependencies of [SetPassword].
type OperatorConfig struct {
	Sessions SessionsConfig
	Store    Store
	Queue    jobs.Queue
}

// SetPassword sets a person's password without the old one, for the operator. It ends the
// person's sessions and invalidates all links that reset the password. Second factors stay.
// It fails with validation_failed for a refused password.
func SetPassword(ctx context.Context, cfg OperatorConfig, by access.Actor, user access.User, password string) error {
	if err := passwords.CheckNew(password, user.Email); err != nil {
		return err
	}
	hash, err := passwords.Hash(password)
	if err != nil {
		return fmt.Errorf("hash password: %w", err)
	}
	return cfg.Sessions.Tx.InTx(ctx, func(ctx context.Context) error {
		if err := cfg.Sessions.Users.HoldUser(ctx, user.ID); err != nil {
			return err
		}
		if err := setPassword(ctx, cfg.Sessions.Users, cfg.Store, user.ID, hash, nil); err != nil {
			return err
		}
		if err := cfg.Sessions.Sessions.DeleteSessionsOf(ctx, user.ID); err != nil {
			return fmt.Errorf("end sessions: %w", err)
		}
		if err := cfg.Sessions.AuditEverywhere(ctx, by, user.ID, "user.password_set", ""); err != nil {
			return err
		}
		return cfg.Queue.Enqueue(ctx, NoticeArgs{UserID: user.ID, Of: letters.PasswordSet, At: cfg.Sessions.Clock()})
	})
}

// setPassword stores the hash of a new password and invalidates all links that reset the
// password. It deletes the person's known devices, except the one whose hash is the
// parameter here.
func setPassword(ctx context.Context, users UserStore, store Store, userID, hash string, here []byte) error {
	if err := users.SetPassword(ctx, userID, hash); err != nil {
		return fmt.Errorf("set password: %w", err)
	}
	if err := store.DeleteResetsOf(ctx, userID); err != nil {
		return fmt.Errorf("void links of resets: %w", err)
	}
	if err := store.DeleteDevicesOf(ctx, userID, here); err != nil {
		return fmt.Errorf("forget devices: %w", err)
	}
	return nil
}

var errPasswordMoved = errors.New("the password was changed in between")

// holdWith locks a person until the transaction ends. It fails with conflict if the stored
// password hash is no longer the given one.
func holdWith(ctx context.Context, cfg SessionsConfig, user access.User, hash string) error {
	if err := cfg.Users.HoldUser(ctx, user.ID); err != nil {
		return err
	}
	now, err := cfg.Users.UserByID(ctx, user.ID)
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
