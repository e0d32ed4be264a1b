package processing_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/inbound"
)

// outage is a database that can be away. Calls of the queue then fail, and so do transactions.
type outage struct {
	inbound.Queue
	core.Transactor

	mu sync.Mutex
	// away fails all calls. lost fails calls of PutOff after they have changed the database, as
	// if the connection broke before the answer.
	away, lost bool
	// refusals counts the calls of PutOff that failed.
	refusals int
}

var errAway = core.TemporarilyUnavailable(errors.New("connection refused"))

func (o *outage) set(away, lost bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.away, o.lost = away, lost
}

// refused returns the error of a call that does not reach the database, nil for one that does.
func (o *outage) refused() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.away {
		return errAway
	}
	return nil
}

func (o *outage) InTx(ctx context.Context, f func(ctx context.Context) error) error {
	if err := o.refused(); err != nil {
		return err
	}
	return o.Transactor.InTx(ctx, f)
}

func (o *outage) Claim(ctx context.Context, now, until time.Time, limit int) ([]inbound.Task, error) {
	if err := o.refused(); err != nil {
		return nil, err
	}
	return o.Queue.Claim(ctx, now, until, limit)
}

func (o *outage) PutOff(ctx context.Context, t inbound.Task, due time.Time) (bool, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.away {
		o.refusals++
		return false, errAway
	}
	undone, err := o.Queue.PutOff(ctx, t, due)
	if o.lost {
		o.refusals++
		return false, errAway
	}
	return undone, err
}

// awaitRefusals waits until a number of calls of PutOff have failed.
func (o *outage) awaitRefusals(n int) {
	for {
		o.mu.Lock()
		refused := o.refusals
		o.mu.Unlock()
		if refused >= n {
			return
		}
		runtime.Gosched()
	}
}

// TestShortOutageKeepsNoLease lets the database go away while messages are processed: claimed
// ones, and one that this process accepted. They must be processed as soon as the database
// answers again, long before their leases end.
func TestShortOutageKeepsNoLease(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		judging, release := make(chan struct{}), make(chan struct{})
		w.judge = func(context.Context, string) inbound.Verdicts {
			judging <- struct{}{}
			<-release
			return inbound.Verdicts{}
		}
		w.accept(t, mail("claimed"), "inbox")
		stop, wait := w.follow(t)
		<-judging
		w.accept(t, mail("direct"), "inbox")
		<-judging
		w.outage.set(true, false)
		w.judge = nil
		close(release)
		w.outage.awaitRefusals(2)
		w.Wake() // the database is still away
		w.advance(2 * time.Second)
		w.outage.set(false, false)
		for w.waiting(t) != 0 {
			w.Wake()
			runtime.Gosched()
		}
		stop()
		wait()
		if got := subjects(w.committed); len(got) != 2 || got[0] != "claimed" || got[1] != "direct" {
			t.Errorf("committed %q, log %s", got, w.log.String())
		}
	})
}

// TestOutageAtTheStop lets the database go away until the process stops. Another process must be
// able to claim the message at once.
func TestOutageAtTheStop(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		w.judge = func(context.Context, string) inbound.Verdicts {
			w.outage.set(true, false)
			return inbound.Verdicts{}
		}
		w.accept(t, mail("claimed"), "inbox")
		stop, wait := w.follow(t)
		w.outage.awaitRefusals(1)
		w.advance(time.Second)
		w.outage.set(false, false)
		stop()
		wait()
		if found, err := w.Claim(t.Context(), w.clock(), w.clock().Add(time.Minute), 10); err != nil || len(found) != 1 || len(w.delivered) != 0 {
			t.Errorf("claimed %+v, %v, delivered %q, log %s", found, err, subjects(w.delivered), w.log.String())
		}
	})
}

// TestAnswerLostInAnOutage breaks the connection after a message was put off. Another process
// claims it. The process of before must not change that claim when the database answers again.
func TestAnswerLostInAnOutage(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		w.fails = func(string) error { return errBroken }
		w.accept(t, mail("claimed"), "inbox")
		w.outage.set(false, true)
		w.look(t)
		w.advance(time.Second)
		others, err := w.Claim(t.Context(), w.clock(), w.clock().Add(time.Minute), 10)
		if err != nil || len(others) != 1 {
			t.Fatalf("the other process claims %+v, %v", others, err)
		}
		w.outage.set(false, false)
		w.fails = nil
		w.look(t)
		w.advance(30 * time.Second)
		w.look(t)
		if len(w.delivered) != 0 {
			t.Errorf("delivered %q during the lease of another process", subjects(w.delivered))
		}
		if again, err := w.Settle(t.Context(), others); err != nil || len(again) != 0 {
			t.Errorf("the other process cannot end its task: %v, %v", again, err)
		}
	})
}
