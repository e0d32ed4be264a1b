package people

import (
	"context"
	"fmt"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/jobs"
	"github.com/mailhelm/mailhelm/core/letters"
)

// MailConfig configures the jobs that send mail.
type MailConfig struct {
	Sessions SessionsConfig
	Store    Store
	Queue    jobs.Queue
	// Sender is nil if the operator configured no mail server; then no mail is sent.
	Sender letters.Sender
	// SecurityURL is the URL of the page with a person's security settings.
	SecurityURL string
}

// Mail provides the workers of the jobs that send mail to the users of the dashboard.
type Mail struct{ cfg MailConfig }

// NewMail returns a Mail.
func NewMail(cfg MailConfig) *Mail { return &Mail{cfg: cfg} }

// noticeKept is how long after an event a notice about it may be sent. An older notice is
// dropped.
const noticeKept = 24 * time.Hour

// NoticeArgs is the argument of the job that mails a person a notice, such as that the
// password was changed.
type NoticeArgs struct {
	UserID string         `json:"user_id"`
	Of     letters.Notice `json:"of"`
	At     time.Time      `json:"at"`
	From   string         `json:"from,omitempty"` // network of the client that caused the event, "" if unknown
}

// Kind returns the name of the job that mails a notice.
func (NoticeArgs) Kind() string { return "people_notice" }

// Notices enqueues the jobs that mail notices. It implements the interface of the same name
// in core/passwordchange.
type Notices struct{ Queue jobs.Queue }

// EnqueueNotice enqueues a job that mails a person a notice about an event. It takes part
// in the transaction of ctx.
func (n Notices) EnqueueNotice(ctx context.Context, userID string, of letters.Notice, event letters.Event) error {
	return n.Queue.Enqueue(ctx, NoticeArgs{UserID: userID, Of: of, At: event.At, From: event.From})
}

// NoticeWorker returns the worker that mails notices about security events.
func (m *Mail) NoticeWorker() jobs.Worker[NoticeArgs] {
	return jobs.Worker[NoticeArgs]{Work: m.mailNotice}
}

func (m *Mail) mailNotice(ctx context.Context, n NoticeArgs) error {
	if m.cfg.Sender == nil || m.cfg.Sessions.Clock().Sub(n.At) > noticeKept {
		return nil
	}
	user, err := m.cfg.Sessions.Users.UserByID(ctx, n.UserID)
	if core.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("person: %w", err)
	}
	return m.cfg.Sender.Send(ctx, n.Of.Letter(user.Email, m.cfg.SecurityURL, letters.Event{At: n.At, From: n.From}))
}
