package passwordchange

import (
	"context"
	"fmt"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/jobs"
	"github.com/mailhelm/mailhelm/core/letters"
)

const (
	// ResetLifetime is how long a reset link works.
	ResetLifetime = 15 * time.Minute
	// maxOpenResets is the maximum number of valid reset links of one person. It limits the
	// mail that strangers can cause.
	maxOpenResets = 5
)

// Mails reports whether a mail server is configured, so that reset links can be sent.
func (p *Passwords) Mails() bool { return p.cfg.Mails }

// AskReset enqueues a job that mails a reset link to the person with this address. It
// enqueues a job for unknown addresses too, so that neither the result nor its duration
// reveals whether the address exists. It fails with validation_failed for an invalid
// address, with rate_limited after too many requests, and with conflict if no mail server
// is configured.
func (p *Passwords) AskReset(ctx context.Context, email, client string) error {
	if !p.cfg.Mails {
		return core.Conflict("This server is not configured to send mail.", "Ask the operator of this server to set a new password: mailhelm admin user set-password.")
	}
	address, ok := core.CanonicalEmail(email)
	if !ok {
		return &core.Error{Code: core.CodeValidationFailed, Message: "This is not an email address.", Next: "Enter an address such as ada@example.com."}
	}
	now := p.cfg.Clock()
	if err := p.cfg.Attempts.AdmitLink(address, client); err != nil {
		return err
	}
	return p.cfg.Queue.Enqueue(ctx, AskResetArgs{Email: address, At: now, From: client})
}

// AskResetArgs is the argument of the job that mails a reset link. It does not contain the
// link: the job creates the link's secret, so that the secret is never in a queue.
type AskResetArgs struct {
	Email string    `json:"email"`
	At    time.Time `json:"at"`
	From  string    `json:"from"`
}

// Kind returns the name of the job that mails a reset link. The prefix is that of
// core/people, which had this job in earlier versions: jobs that they queued have the name.
func (AskResetArgs) Kind() string { return "people_ask_reset" }

// ResetMailConfig has the dependencies of [ResetMail].
type ResetMailConfig struct {
	Stores
	// Sender is nil if the operator configured no mail server; then no mail is sent.
	Sender letters.Sender
	// Address returns the URL of the link that resets a password, for the link's secret.
	Address func(secret string) string
}

// ResetMail makes reset links and mails them.
type ResetMail struct{ cfg ResetMailConfig }

// NewResetMail returns a ResetMail.
func NewResetMail(cfg ResetMailConfig) *ResetMail { return &ResetMail{cfg: cfg} }

// Worker returns the worker that mails reset links. It mails nothing for a request that is
// older than [ResetLifetime]: the person has given up or sent another request.
func (m *ResetMail) Worker() jobs.Worker[AskResetArgs] {
	return jobs.Worker[AskResetArgs]{Work: m.mailReset}
}

func (m *ResetMail) mailReset(ctx context.Context, asked AskResetArgs) error {
	now := m.cfg.Clock()
	if m.cfg.Sender == nil || now.Sub(asked.At) > ResetLifetime {
		return nil
	}
	user, err := m.cfg.Users.UserByEmail(ctx, asked.Email)
	if core.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("person: %w", err)
	}
	minted, made := access.MintLink(), false
	err = m.cfg.Tx.InTx(ctx, func(ctx context.Context) error {
		if made, err = m.makeReset(ctx, user.ID, minted.Hash, now); err != nil || !made {
			return err
		}
		return m.cfg.Audit.AuditEverywhere(ctx, access.System(), user.ID, "user.password_reset_asked", "")
	})
	if err != nil || !made {
		return err
	}
	return m.cfg.Sender.Send(ctx, letters.Reset(user.Email, m.cfg.Address(minted.Secret), letters.Event{At: asked.At, From: asked.From}))
}

// makeReset stores a reset link with this hash. It stores nothing and returns false if the
// person is disabled or has maxOpenResets valid links.
func (m *ResetMail) makeReset(ctx context.Context, userID string, hash []byte, now time.Time) (bool, error) {
	if err := m.cfg.Users.HoldUser(ctx, userID); err != nil {
		return false, err
	}
	user, err := m.cfg.Users.UserByID(ctx, userID)
	if err != nil || user.DisabledAt != nil {
		return false, err
	}
	open, err := m.cfg.Resets.OpenResets(ctx, userID, now)
	if err != nil || open >= maxOpenResets {
		return false, err
	}
	return true, m.cfg.Resets.InsertReset(ctx, Reset{
		Hash: hash, UserID: userID, Mark: markOf(user.PasswordHash), CreatedAt: now, ExpiresAt: now.Add(ResetLifetime),
	})
}
