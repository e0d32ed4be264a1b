package processing_test

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core/inbound"
	"github.com/mailhelm/mailhelm/core/inbound/processing"
	"github.com/mailhelm/mailhelm/core/inbound/spool"
)

// follow lets the processor work on what w.spool accepts. The returned functions stop it, and
// wait until it has stopped. Nothing ticks, so the processor claims no task that it is not woken
// for.
func (w *world) follow(t *testing.T) (stop, wait func()) {
	t.Helper()
	w.spool = spool.New(spool.Config{
		Stores: w.stores, Queue: w.Queue, Folder: t.TempDir(), Worker: w.Processor, Wake: w.Wake, Count: func(spool.Outcome) {}, Log: slog.New(slog.DiscardHandler),
	})
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { w.Follow(ctx, make(chan time.Time)) })
	for { // until Follow runs
		if place := w.Reserve(t.Context()); place != nil {
			place.Release()
			break
		}
	}
	return cancel, running.Wait
}

// TestAcceptedMessageIsProcessedAtOnce checks that the process which accepts a message processes
// it without a claim, and without reading it from the store.
func TestAcceptedMessageIsProcessedAtOnce(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		w.stores.Fail = func(call, key string) error {
			if call == "open" {
				return errors.New("the message is read again: " + key)
			}
			return nil
		}
		stop, wait := w.follow(t)
		w.accept(t, mail("kept"), "inbox", "domain")
		w.accept(t, mail("dropped"), "drop")
		for w.waiting(t) != 0 {
			runtime.Gosched()
		}
		stop()
		wait()
		if got := subjects(w.committed); len(got) != 3 || w.waiting(t) != 0 {
			t.Fatalf("committed %q, waiting %d, log %s", got, w.waiting(t), w.log.String())
		}
		w.stores.Fail = nil
		for _, m := range w.delivered {
			if n := len(w.objects(t, m)); (n == 1) != (m.Subject == "kept") {
				t.Errorf("%s has %d objects", m.Subject, n)
			}
			if toInbox := len(m.Extracted.Codes) == 1; m.Subject == "dropped" && !toInbox {
				t.Errorf("nothing was extracted from %s", m.Subject)
			}
		}
		if w.Reserve(t.Context()) != nil {
			t.Error("a place was reserved after the end")
		}
	})
}

// TestStoppedProcessGivesTasksBack stops the process while it judges messages. Another process
// must be able to claim them at once.
func TestStoppedProcessGivesTasksBack(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		judging, release := make(chan struct{}), make(chan struct{})
		w.judge = func(context.Context, string) inbound.Verdicts {
			judging <- struct{}{}
			<-release
			return inbound.Verdicts{}
		}
		claimed := w.accept(t, mail("claimed"), "inbox")
		stop, wait := w.follow(t)
		<-judging
		direct := w.accept(t, mail("direct"), "inbox")
		<-judging
		stop()
		close(release)
		wait()
		found, err := w.Claim(t.Context(), w.clock(), w.clock().Add(time.Minute), 10)
		if err != nil || len(found) != 2 {
			t.Fatalf("claimed %d, want %s and %s: %v, log %s", len(found), claimed, direct, err, w.log.String())
		}
		if len(w.delivered) != 0 {
			t.Errorf("delivered %q", subjects(w.delivered))
		}
	})
}

var _ inbound.Worker = (*processing.Processor)(nil)
