package mailing

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/composition"
	"github.com/mailhelm/mailhelm/core/handover"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/workflows"
	"github.com/mailhelm/mailhelm/core/workpool"
)

// Config configures a [Mailer]. All fields are required, unless their comments define what nil
// means.
type Config struct {
	Store workflows.MailStore
	Steps Steps

	Templates Templates
	Senders   Senders
	Links     Links
	// Finish completes the content of a mail with the organization's footer, postal address
	// and asset addresses.
	Finish func(ctx context.Context, orgID string, content sending.Template) (sending.Template, error)
	// Continue lets the runner of this process look for runs that continue. nil means that
	// there is none.
	Continue func()
	// Wait waits until the time, or until ctx ends.
	Wait  func(ctx context.Context, until time.Time)
	Clock core.Clock
	Log   *slog.Logger
}

// Steps passes messages to the account; see [handover.Handover].
type Steps interface {
	Step(ctx context.Context, orgID, sendID string, m handover.Mailing) (handover.Progress, error)
	Abandon(ctx context.Context, orgID, sendID, reason string) error
}

// Templates reads the newest content of templates.
type Templates interface {
	// Content returns the newest content of the template with the slug, and its name in events
	// and reports. It fails with core.CodeNotFound if there is none.
	Content(ctx context.Context, orgID, slug string) (content sending.Template, name string, err error)
}

// Senders knows from which address an organization sends.
type Senders interface {
	// Default returns the address of the sender, "" if the organization has no verified
	// domain.
	Default(ctx context.Context, orgID string) (address string, err error)
	// Channel returns the name of a configuration set, "" for the default of the account.
	Channel(ctx context.Context, orgID string) (string, error)
}

// Links makes the links with which recipients unsubscribe.
type Links interface {
	Links(orgID, contactID, topic, sendID string) (composition.Links, error)
}

const (
	// LookEvery is the interval at which a process looks for messages.
	LookEvery = time.Second
	// maxRunning is the number of sends that one process drives at the same time.
	maxRunning = 4
	// lookLimit is the maximum number of sends that one look reads.
	lookLimit = 200
	// settleBatch is the number of outcomes that are stored in one transaction.
	settleBatch = 500
	// longWait is the wait for the account after which a drive ends. The next look begins
	// another.
	longWait = 5 * time.Second
	// unmadeWait is the wait after messages could not be made, such as without a template or a
	// verified domain.
	unmadeWait = time.Minute
)

// Mailer passes the messages of workflows to sending accounts. Every process with workers has
// one; several may drive one send.
type Mailer struct {
	Config
	*workpool.Pool[workflows.OpenSend]
}

// New returns a Mailer that does nothing yet.
func New(cfg Config) *Mailer {
	m := &Mailer{Config: cfg}
	m.Pool = workpool.New(workpool.Config[workflows.OpenSend]{
		Limit: maxRunning, RetryAfter: longWait, Do: m.drive, Clock: cfg.Clock, Log: cfg.Log,
		Find: func(ctx context.Context, _ int) ([]workflows.OpenSend, error) {
			return m.Store.OpenSends(ctx, lookLimit)
		},
		FindFailed: "messages of workflows could not be looked for", DoFailed: "messages of a workflow could not be passed; it is tried again",
		Attributes: func(send workflows.OpenSend) []any { return []any{"org_id", send.OrgID, "send_id", send.SendID} },
	})
	return m
}

// Retry lets the messages of an organization that rest be tried again at once. Call it after a
// change without which they may not have been made, such as of the verified domains.
func (m *Mailer) Retry(orgID string) {
	m.EndRests(func(send workflows.OpenSend) bool { return send.OrgID == orgID })
}

// drive passes the messages of a send step by step until none is due, and stores their outcomes.
// It also stores the outcomes of messages that became known later, such as by an event of the
// provider.
func (m *Mailer) drive(ctx context.Context, send workflows.OpenSend) (rest time.Time, err error) {
	of, err := m.Store.Send(ctx, send.OrgID, send.SendID)
	if err != nil {
		return time.Time{}, err
	}
	if of.Status == workflows.Archived {
		if err := m.Steps.Abandon(ctx, send.OrgID, send.SendID, "the workflow was archived"); err != nil {
			return time.Time{}, err
		}
		return time.Time{}, m.settle(ctx, send)
	}
	mailing := &mailing{Config: &m.Config, send: of}
	for ctx.Err() == nil {
		if err := mailing.refresh(ctx, send.OrgID); err != nil {
			m.Log.ErrorContext(ctx, "messages of a workflow cannot be made and wait", "org_id", send.OrgID, "workflow_id", of.WorkflowID, "step", of.Path, "error", err)
			return m.Clock().Add(unmadeWait), m.settle(ctx, send)
		}
		began := m.Clock()
		p, err := m.Steps.Step(ctx, send.OrgID, send.SendID, mailing)
		if m.Clock().Sub(began) >= handover.Patience {
			err = errors.Join(err, m.correct(ctx, send, mailing))
		}
		if err := errors.Join(err, m.settle(ctx, send)); err != nil {
			return time.Time{}, err
		}
		switch {
		case p.Claimed > 0 || p.Filtered > 0:
		case p.Hold != "", p.Wait.IsZero():
			return time.Time{}, nil // the outcomes that are missing come with events
		case p.Wait.After(m.Clock().Add(longWait)):
			return p.Wait, nil
		default:
			m.Wait(ctx, p.Wait)
		}
	}
	return time.Time{}, nil
}

// correct stores answers of the account that came after the messages of a step were given up and
// settled as failed.
func (m *Mailer) correct(ctx context.Context, send workflows.OpenSend, step *mailing) error {
	mails := make([]workflows.MailRef, 0, len(step.recipients))
	for key := range step.recipients {
		mails = append(mails, workflows.MailRef{SendID: send.SendID, Key: key})
	}
	return m.Store.Correct(context.WithoutCancel(ctx), send.OrgID, mails)
}

// Corrected returns a function that stores late events of messages in the records of workflows;
// see package sendevents.
func Corrected(store workflows.MailStore) func(ctx context.Context, orgID string, seen []handover.Evidence) error {
	return func(ctx context.Context, orgID string, seen []handover.Evidence) error {
		mails := make([]workflows.MailRef, len(seen))
		for i, e := range seen {
			mails[i] = workflows.MailRef{SendID: e.SendID, Key: e.Key}
		}
		return store.Correct(ctx, orgID, mails)
	}
}

// settle stores the outcomes of messages, with which their runs continue.
func (m *Mailer) settle(ctx context.Context, send workflows.OpenSend) error {
	storing := context.WithoutCancel(ctx) // the account has the messages, also when the server stops
	for settled := settleBatch; settled == settleBatch; {
		var err error
		if settled, err = m.Store.Settle(storing, send.OrgID, send.SendID, m.Clock(), settleBatch); err != nil {
			return err
		}
		if settled > 0 && m.Continue != nil {
			m.Continue()
		}
	}
	return nil
}
