package dispatch

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/broadcasts"
	"github.com/mailhelm/mailhelm/core/handover"
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
	woken chan struct{}

	mu      sync.Mutex
	running map[broadcasts.OpenSend]bool
	group   sync.WaitGroup
}

// New returns a Dispatcher that does nothing yet.
func New(cfg Config) *Dispatcher {
	return &Dispatcher{Config: cfg, woken: make(chan struct{}, 1), running: map[broadcasts.OpenSend]bool{}}
}

// Wake lets Follow look at once.
func (d *Dispatcher) Wake() {
	select {
	case d.woken <- struct{}{}:
	default: // it will look anyway
	}
}

// Follow looks for broadcasts at each tick and when it is woken, until ctx ends. It returns
// when the steps that it has begun have ended.
func (d *Dispatcher) Follow(ctx context.Context, ticks <-chan time.Time) {
	ctx = core.WithLane(ctx, core.Background)
	defer d.group.Wait()
	for {
		if err := d.Look(ctx); err != nil && ctx.Err() == nil {
			d.Log.WarnContext(ctx, "broadcasts could not be looked for", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticks:
		case <-d.woken:
		}
	}
}

// Look begins to drive the broadcasts that have something to do and returns.
func (d *Dispatcher) Look(ctx context.Context) error {
	if !d.hasRoom() {
		return nil
	}
	found, err := d.Open.Open(ctx, d.Clock(), lookLimit)
	if err != nil {
		return err
	}
	for _, send := range found {
		if d.take(send) {
			d.group.Go(func() {
				defer d.release(send)
				d.drive(ctx, send)
			})
		}
	}
	return nil
}

// Join waits until the drives that Look began have ended.
func (d *Dispatcher) Join() { d.group.Wait() }

func (d *Dispatcher) hasRoom() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.running) < maxRunning
}

// take marks a broadcast as driven by this process. It reports false if it is already, or if
// there is no room.
func (d *Dispatcher) take(send broadcasts.OpenSend) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	key := broadcasts.OpenSend{OrgID: send.OrgID, ID: send.ID}
	if d.running[key] || len(d.running) >= maxRunning {
		return false
	}
	d.running[key] = true
	return true
}

func (d *Dispatcher) release(send broadcasts.OpenSend) {
	d.mu.Lock()
	delete(d.running, broadcasts.OpenSend{OrgID: send.OrgID, ID: send.ID})
	more := len(d.running) == maxRunning-1
	d.mu.Unlock()
	if more {
		d.Wake() // others may have waited for room
	}
}

// drive starts a broadcast whose time has come, and passes its messages until none is due.
func (d *Dispatcher) drive(ctx context.Context, send broadcasts.OpenSend) {
	defer func() {
		if v := recover(); v != nil {
			d.Log.ErrorContext(ctx, "driving a broadcast panicked", "org_id", send.OrgID, "broadcast_id", send.ID, "error", core.PanicText(v))
		}
	}()
	var err error
	if send.State == broadcasts.Scheduled {
		err = d.Sends.StartDue(ctx, send.OrgID, send.ID)
	}
	if err == nil {
		err = d.pass(ctx, send)
	}
	if err != nil && ctx.Err() == nil {
		d.Log.ErrorContext(ctx, "a broadcast could not be driven; it is tried again", "org_id", send.OrgID, "broadcast_id", send.ID, "error", err)
		d.Wait(ctx, d.Clock().Add(retryAfter))
	}
}

// pass passes messages until no recipient is due, and ends the broadcast if all recipients
// have outcomes.
func (d *Dispatcher) pass(ctx context.Context, send broadcasts.OpenSend) error {
	found, err := d.Store.Broadcast(ctx, send.OrgID, send.ID)
	if core.IsNotFound(err) || err == nil && found.State != broadcasts.Sending {
		return nil
	}
	if err != nil {
		return err
	}
	run := &run{Dispatcher: d, send: send, record: found, paused: found.Paused}
	ended, err := run.pass(ctx)
	if err != nil || !ended {
		return err
	}
	return errors.Join(run.recount(ctx), d.finish(ctx, send))
}
