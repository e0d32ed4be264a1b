package broadcasts

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/mailhelm/mailhelm/core"
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
	// longWait is the wait for the account that is shown as a pause.
	longWait = 10 * time.Second
)

// Steps passes messages to the account; see [handover.Handover].
type Steps interface {
	Step(ctx context.Context, orgID, sendID string, m handover.Mailing) (handover.Progress, error)
}

// Dispatcher starts the broadcasts whose time has come, drives the running ones and ends
// them. Every process with workers has one; several may drive one broadcast.
type Dispatcher struct {
	b     *Broadcasts
	open  OpenStore
	steps Steps
	wait  func(ctx context.Context, until time.Time)
	clock core.Clock
	log   *slog.Logger
	woken chan struct{}

	mu      sync.Mutex
	running map[OpenSend]bool
	group   sync.WaitGroup
}

// DispatcherConfig configures a [Dispatcher]. All fields are required.
type DispatcherConfig struct {
	Broadcasts *Broadcasts
	Open       OpenStore
	Steps      Steps
	// Wait waits until the time, or until ctx ends.
	Wait  func(ctx context.Context, until time.Time)
	Clock core.Clock
	Log   *slog.Logger
}

// NewDispatcher returns a Dispatcher that does nothing yet.
func NewDispatcher(cfg DispatcherConfig) *Dispatcher {
	return &Dispatcher{
		b: cfg.Broadcasts, open: cfg.Open, steps: cfg.Steps, wait: cfg.Wait, clock: cfg.Clock, log: cfg.Log,
		woken: make(chan struct{}, 1), running: map[OpenSend]bool{},
	}
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
			d.log.WarnContext(ctx, "broadcasts could not be looked for", "error", err)
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
	found, err := d.open.Open(ctx, d.clock(), lookLimit)
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

// Wait waits until the drives that Look began have ended.
func (d *Dispatcher) Wait() { d.group.Wait() }

func (d *Dispatcher) hasRoom() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.running) < maxRunning
}

// take marks a broadcast as driven by this process. It reports false if it is already, or if
// there is no room.
func (d *Dispatcher) take(send OpenSend) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	key := OpenSend{OrgID: send.OrgID, ID: send.ID}
	if d.running[key] || len(d.running) >= maxRunning {
		return false
	}
	d.running[key] = true
	return true
}

func (d *Dispatcher) release(send OpenSend) {
	d.mu.Lock()
	delete(d.running, OpenSend{OrgID: send.OrgID, ID: send.ID})
	more := len(d.running) == maxRunning-1
	d.mu.Unlock()
	if more {
		d.Wake() // others may have waited for room
	}
}

// drive starts a broadcast whose time has come, and passes its messages until none is due.
func (d *Dispatcher) drive(ctx context.Context, send OpenSend) {
	defer func() {
		if v := recover(); v != nil {
			d.log.ErrorContext(ctx, "driving a broadcast panicked", "org_id", send.OrgID, "broadcast_id", send.ID, "error", core.PanicText(v))
		}
	}()
	err := d.begin(ctx, send)
	if err == nil {
		err = d.pass(ctx, send)
	}
	if err != nil && ctx.Err() == nil {
		d.log.ErrorContext(ctx, "a broadcast could not be driven; it is tried again", "org_id", send.OrgID, "broadcast_id", send.ID, "error", err)
	}
}

// begin starts a scheduled broadcast. One that cannot be sent any more is paused, and its
// cause logged.
func (d *Dispatcher) begin(ctx context.Context, send OpenSend) error {
	if send.State != Scheduled {
		return nil
	}
	if err := d.b.RefreshSuppressions(ctx, send.OrgID); err != nil {
		d.log.WarnContext(ctx, "the suppression list could not be read before a send", "org_id", send.OrgID, "error", err)
	}
	return d.b.Transactor.InTx(ctx, func(ctx context.Context) error {
		now := d.clock()
		found, err := d.b.Store.Broadcast(ctx, send.OrgID, send.ID)
		if core.IsNotFound(err) || err == nil && !isDue(found, now) {
			return nil // deleted, changed, or started by another process
		}
		if err != nil {
			return err
		}
		err = d.b.checkSendable(ctx, send.OrgID, found)
		if isRefusal(err) {
			d.log.WarnContext(ctx, "a scheduled broadcast cannot be sent", "org_id", send.OrgID, "broadcast_id", send.ID, "error", err)
			return d.b.Store.SetPause(ctx, send.OrgID, send.ID, &Pause{Reason: PausedByFault, Since: now})
		}
		if err != nil {
			return err
		}
		if held, err := d.b.holdStart(ctx, send.OrgID, found, now); err != nil || held {
			return err
		}
		_, err = d.b.start(ctx, send.OrgID, found, now)
		return err
	})
}

// isDue reports whether a scheduled broadcast starts now.
func isDue(b Broadcast, now time.Time) bool {
	return b.State == Scheduled && b.ScheduleAt != nil && !b.ScheduleAt.After(now) && !b.IsPaused()
}

// pass passes messages until no recipient is due, and ends the broadcast if all recipients
// have outcomes.
func (d *Dispatcher) pass(ctx context.Context, send OpenSend) error {
	found, err := d.b.Store.Broadcast(ctx, send.OrgID, send.ID)
	if core.IsNotFound(err) || err == nil && found.State != Sending {
		return nil
	}
	if err != nil {
		return err
	}
	m, err := d.b.openMailing(found)
	if err != nil {
		return err
	}
	run := &run{Dispatcher: d, send: send, paused: found.Paused}
	for ctx.Err() == nil {
		p, err := d.steps.Step(ctx, send.OrgID, send.ID, m)
		if err != nil {
			return err
		}
		if err := run.note(ctx, p); err != nil {
			return err
		}
		switch {
		case p.Claimed > 0 || p.Filtered > 0:
			err = run.count(ctx)
		case p.Hold != "":
			return nil // the next look tries again
		case p.Wait.After(d.clock().Add(longWait)):
			return nil
		case !p.Wait.IsZero():
			d.wait(ctx, p.Wait)
		default:
			return errors.Join(run.recount(ctx), d.finish(ctx, send))
		}
		if err != nil {
			return err
		}
	}
	return nil
}
