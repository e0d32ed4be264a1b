package dispatch

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/broadcasts"
	"github.com/mailhelm/mailhelm/core/handover"
	"github.com/mailhelm/mailhelm/core/workpool"
)

// LookEvery is the interval at which a process looks for broadcasts to start and to drive.
const LookEvery = time.Second

const (
	// maxRunning is the number of broadcasts that one process drives at the same time.
	maxRunning = 8
	// lookLimit is the maximum number of broadcasts that a process reads at once. Those that it
	// leaves out are read at one of the next looks, because their order is random.
	lookLimit = 200
	// countEvery is how often the counts of a running broadcast are stored at most.
	countEvery = 2 * time.Second
	// countShare is how much longer than a count the time until the next one is, so that
	// counting a large broadcast takes a small share of the time.
	countShare = 20
	// retryAfter is the wait after a drive that failed.
	retryAfter = 5 * time.Second
	// longWait is the wait for the account that is shown as a pause.
	longWait = 10 * time.Second
	// lanes is the number of steps of a broadcast that a process makes at the same time. While
	// one claims recipients or stores their outcomes, the other passes messages.
	lanes = 2
)

// Steps passes messages to the account; see [handover.Handover].
type Steps interface {
	Step(ctx context.Context, orgID, sendID string, m handover.Mailing) (handover.Progress, error)
}

// Sends starts broadcasts and makes their messages; see [broadcasts.Editor].
type Sends interface {
	StartDue(ctx context.Context, orgID, id string) error
	Mailing(send broadcasts.Broadcast) (handover.Mailing, error)
}

// Config configures a [Dispatcher]. All fields are required.
type Config struct {
	Sends      Sends
	Store      broadcasts.Store
	Open       broadcasts.OpenStore
	Outcomes   handover.OutcomeStore
	Steps      Steps
	Transactor core.Transactor
	// Wait waits until the time, or until ctx ends.
	Wait  func(ctx context.Context, until time.Time)
	Clock core.Clock
	Log   *slog.Logger
}

// Dispatcher starts the broadcasts whose time has come, drives the running ones and ends
// them. Every process with workers has one; several may drive one broadcast.
type Dispatcher struct {
	Config
	*workpool.Pool[broadcasts.OpenSend]
}

// New returns a Dispatcher that does nothing yet.
func New(cfg Config) *Dispatcher {
	d := &Dispatcher{Config: cfg}
	d.Pool = workpool.New(workpool.Config[broadcasts.OpenSend]{
		Limit: maxRunning, RetryAfter: retryAfter, Do: d.drive, Clock: cfg.Clock, Log: cfg.Log,
		Find: func(ctx context.Context, _ int) ([]broadcasts.OpenSend, error) {
			return d.Open.Open(ctx, d.Clock(), lookLimit)
		},
		FindFailed: "broadcasts could not be looked for", DoFailed: "a broadcast could not be driven; it is tried again",
		Attributes: func(send broadcasts.OpenSend) []any { return []any{"org_id", send.OrgID, "broadcast_id", send.ID} },
	})
	return d
}

// drive starts a broadcast whose time has come, and passes its messages until none is due.
func (d *Dispatcher) drive(ctx context.Context, send broadcasts.OpenSend) (rest time.Time, err error) {
	found, err := d.Store.Broadcast(ctx, send.OrgID, send.ID)
	if err == nil && found.State == broadcasts.Scheduled {
		if err := d.Sends.StartDue(ctx, send.OrgID, send.ID); err != nil {
			return time.Time{}, err
		}
		found, err = d.Store.Broadcast(ctx, send.OrgID, send.ID)
	}
	if core.IsNotFound(err) || err == nil && found.State != broadcasts.Sending {
		return time.Time{}, nil
	}
	if err != nil {
		return time.Time{}, err
	}
	return time.Time{}, d.pass(ctx, send, found)
}

// pass passes messages until no recipient is due, and ends the broadcast if all recipients
// have outcomes.
func (d *Dispatcher) pass(ctx context.Context, send broadcasts.OpenSend, found broadcasts.Broadcast) error {
	run := &run{Dispatcher: d, send: send, record: found, paused: found.Paused}
	ended, err := run.pass(ctx)
	if err != nil || !ended {
		return err
	}
	return errors.Join(run.recount(ctx), d.finish(ctx, send))
}
