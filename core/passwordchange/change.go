package passwordchange

import (
	"context"
	"fmt"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/jobs"
	"github.com/mailhelm/mailhelm/core/letters"
	"github.com/mailhelm/mailhelm/core/passwords"
)

// Config has the dependencies of [Passwords]. All fields except Mails are required.
type Config struct {
	Stores
	Hasher   Hasher
	Attempts Attempts
	// Queue accepts the job that mails a reset link.
	Queue jobs.Queue
	// Mails is true if the workers have a [letters.Sender], so that mail can be sent.
	Mails bool
}

// Hasher hashes new passwords; core/people implements it.
type Hasher interface {
	// HashPassword returns the argon2id hash of a password. It first waits while too many other
	// passwords are being hashed.
	HashPassword(ctx context.Context, password string) (string, error)
}

// Attempts limits requests for reset links; core/attempts implements it.
type Attempts interface {
	// AdmitLink counts a network's request for a link that resets the password of an
	// address. It fails with rate_limited after too many such requests.
	AdmitLink(email, client string) error
}

// Passwords changes and resets passwords. It is safe for use by several goroutines.
type Passwords struct{ cfg Config }

// New returns a Passwords.
func New(cfg Config) *Passwords { return &Passwords{cfg: cfg} }

// Session is the session of a person who changes the password; core/people implements it.
type Session interface {
	// CheckProof fails if the person has a second factor and has not proved it recently in
	// this session.
	CheckProof(ctx context.Context) error
	// ProvePassword returns the person if the password is the person's present one. It fails
	// with invalid_key for a wrong password and with rate_limited after too many attempts.
	// client is the IP address or network of the attempt; device is the secret of a known
	// device, or "".
	ProvePassword(ctx context.Context, password, client, device string) (access.User, error)
	// KeepOnly gives the session a new secret, which it returns, and ends all other sessions
	// of the person. It takes part in the transaction of ctx. It fails with invalid_key if
	// the session has ended.
	KeepOnly(ctx context.Context) (string, error)
}

// Change is the input of [Passwords.Change].
type Change struct {
	Session Session
	// Current and Next are the old password and the new one.
	Current, Next string
	// Client is the IP address or network of the request, for the limits on guessing and for
	// the notice.
	Client string
	// Device is the secret of a known device, or "".
	Device    string
	RequestID string
}

// Change sets the password of a person who is signed in. It ends all sessions of the person
// except c.Session, and invalidates all links that reset the password. It returns the new
// secret of c.Session.
//
// A person with a second factor must have confirmed with it recently: Change fails with the
// error of CheckProof of the session. It fails with validation_failed for a wrong old
// password or a refused new one, with rate_limited after too many attempts, and with
// invalid_key if the session has ended.
func (p *Passwords) Change(ctx context.Context, c Change) (string, error) {
	if err := c.Session.CheckProof(ctx); err != nil {
		return "", err
	}
	user, err := c.Session.ProvePassword(ctx, c.Current, c.Client, c.Device)
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
	hash, err := p.cfg.Hasher.HashPassword(ctx, c.Next)
	if err != nil {
		return "", fmt.Errorf("hash password: %w", err)
	}
	var secret string
	err = p.cfg.Tx.InTx(ctx, func(ctx context.Context) error {
		if err := p.cfg.holdWith(ctx, user, user.PasswordHash); err != nil {
			return err
		}
		if secret, err = c.Session.KeepOnly(ctx); err != nil {
			return err
		}
		var here []byte
		if access.IsLink(c.Device) {
			here = access.HashSecret(c.Device)
		}
		if err := p.cfg.setPassword(ctx, user.ID, hash, here); err != nil {
			return err
		}
		if err := p.cfg.Audit.AuditEverywhere(ctx, access.ActorOf(user.ID), user.ID, "user.password_changed", c.RequestID); err != nil {
			return err
		}
		return p.cfg.Notices.EnqueueNotice(ctx, user.ID, letters.PasswordChanged, letters.Event{At: p.cfg.Clock(), From: c.Client})
	})
	if err != nil {
		return "", err
	}
	return secret, nil
}

// notTheCurrent returns validation_failed for the error of a wrong password, and other
// errors unchanged. The error of a failed sign-in does not fit: its text mentions an email
// address, and the form that changes a password asks for none.
func notTheCurrent(err error) error {
	if core.AsError(err).Code != core.CodeInvalidKey {
		return err
	}
	return &core.Error{
		Code: core.CodeValidationFailed, Message: "The current password is wrong.",
		Next: "Type the password that you sign in with.", Err: err,
	}
}
