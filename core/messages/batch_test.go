package messages_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/messages"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// tally is a [messages.Recorder] that counts its calls. It fails for an event with the
// subject "poison" and panics for one with the subject "worse".
type tally struct {
	mu    sync.Mutex
	calls int
	hold  chan struct{} // the first call of ObserveEvents blocks until this channel is closed
	held  chan struct{} // closed when it does
}

var errPoison = errors.New("poison")

func (r *tally) ObserveEvents(_ context.Context, _ string, events []messages.Event) error {
	r.mu.Lock()
	r.calls++
	first := r.calls == 1
	r.mu.Unlock()
	if first && r.hold != nil {
		close(r.held)
		<-r.hold
	}
	for _, e := range events {
		switch e.Mail.Subject {
		case "poison":
			return errPoison
		case "worse":
			panic("a recorder of figures divides by zero")
		}
	}
	return nil
}

func newBatch(db *storage.DB, r *tally) *messages.Batch {
	return messages.NewBatch(messages.New(messages.Config{
		Store: db.Messages(), Transactor: db, Recorders: []messages.Recorder{r},
		Clock: func() time.Time { return now },
	}))
}

func event(n int, subject string) messages.Event {
	return messages.Event{
		ID: fmt.Sprintf("event-%d", n), MessageID: fmt.Sprintf("message-%d", n), Type: messages.Send, OccurredAt: now,
		Mail: messages.Mail{From: "a@b.example", To: []string{"c@d.example"}, SentAt: now, Subject: subject},
	}
}

// TestBatch checks that callers that arrive during a transaction share the next
// transaction. An event that cannot be stored must fail only its own caller. Every event
// for which Record returned no error must be stored.
func TestBatch(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		r := &tally{hold: make(chan struct{}), held: make(chan struct{})}
		b := newBatch(db, r)
		const callers = 60
		errs, recorded := make([]error, callers), make([]messages.Recorded, callers)
		var all sync.WaitGroup
		call := func(n int, subject string) {
			all.Go(func() {
				org := fmt.Sprintf("org-%d", n%3)
				recorded[n], errs[n] = b.Record(t.Context(), org, []messages.Event{event(n/6*6+n%3, subject)})
			})
		}
		call(0, "")
		<-r.held
		for n := 1; n < callers; n++ {
			subject := map[int]string{12: "poison", 15: "poison", 31: "worse", 34: "worse"}[n]
			call(n, subject)
		}
		// wait until all other callers are queued while the first transaction is held open
		for b.Waiting() < callers-1 {
			runtime.Gosched()
		}
		close(r.hold)
		all.Wait()

		fresh := 0
		for n := range callers {
			poison := n == 12 || n == 15 || n == 31 || n == 34
			if (errs[n] != nil) != poison {
				t.Errorf("caller %d: %v", n, errs[n])
			}
			if (n == 12 || n == 15) && !errors.Is(errs[n], errPoison) {
				t.Errorf("caller %d: %v", n, errs[n])
			}
			fresh += recorded[n].New
			if errs[n] == nil {
				if _, err := db.Messages().Message(t.Context(), fmt.Sprintf("org-%d", n%3), fmt.Sprintf("message-%d", n/6*6+n%3)); err != nil {
					t.Errorf("caller %d got a success: %v", n, err)
				}
			}
		}
		if fresh != callers/2-2 { // the callers send callers/2 different events, of which two are invalid
			t.Errorf("%d new events", fresh)
		}
		again, err := b.Record(t.Context(), "org-0", []messages.Event{event(0, ""), event(600, "")})
		if want := (messages.Recorded{New: 1, Duplicates: 1}); err != nil || again != want {
			t.Errorf("%+v, %v", again, err)
		}
	})
}

// TestBatchCallerLeaves checks that events are still stored when their caller's context is
// cancelled, and that the next caller succeeds.
func TestBatchCallerLeaves(t *testing.T) {
	t.Parallel()
	db := storagetest.SQLite(t)
	r := &tally{hold: make(chan struct{}), held: make(chan struct{})}
	b := newBatch(db, r)
	ctx, leave := context.WithCancel(t.Context())
	result := make(chan error)
	go func() {
		_, err := b.Record(ctx, "org", []messages.Event{event(1, "")})
		result <- err
	}()
	<-r.held
	leave()
	if err := <-result; !errors.Is(err, context.Canceled) {
		t.Errorf("the caller who left: %v", err)
	}
	close(r.hold)
	if _, err := b.Record(t.Context(), "org", []messages.Event{event(2, "")}); err != nil {
		t.Error(err)
	}
	if _, err := db.Messages().Message(t.Context(), "org", "message-1"); err != nil {
		t.Error(err)
	}
}

// TestBatchKeepsRoomForOthers checks that the events of one organization are refused above
// its limit, and that another organization's events are then still accepted.
func TestBatchKeepsRoomForOthers(t *testing.T) {
	t.Parallel()
	r := &tally{hold: make(chan struct{}), held: make(chan struct{})}
	b := newBatch(storagetest.SQLite(t), r)
	var all sync.WaitGroup
	call := func(org string, first, size int) {
		events := make([]messages.Event, size)
		for i := range events {
			events[i] = event(first+i, "")
		}
		all.Go(func() {
			if _, err := b.Record(t.Context(), org, events); err != nil {
				t.Errorf("%s: %v", org, err)
			}
		})
	}
	call("flood", 0, 1)
	<-r.held
	for n := range 10 {
		call("flood", 1+n*500, 500)
	}
	for b.Waiting() < 10 {
		runtime.Gosched()
	}
	_, err := b.Record(t.Context(), "flood", []messages.Event{event(9000, "")})
	if e := core.AsError(err); err == nil || e.Code != core.CodeDedupUnavailable || e.RetryAfter == 0 {
		t.Errorf("more than an organization's share waits: %v", err)
	}
	call("other", 0, 500)
	for b.Waiting() < 11 {
		runtime.Gosched()
	}
	close(r.hold)
	all.Wait()
	if _, err := b.Record(t.Context(), "flood", []messages.Event{event(9000, "")}); err != nil {
		t.Errorf("after the flood: %v", err)
	}
}

// TestPoisonCostsFewTransactions records the events of 256 callers at once, one of them
// invalid. The invalid event must cause a few additional transactions, not one for each
// caller.
func TestPoisonCostsFewTransactions(t *testing.T) {
	t.Parallel()
	r := &tally{hold: make(chan struct{}), held: make(chan struct{})}
	b := newBatch(storagetest.SQLite(t), r)
	var all sync.WaitGroup
	all.Go(func() { _, _ = b.Record(t.Context(), "org", []messages.Event{event(1000, "")}) })
	<-r.held
	for n := range 256 {
		all.Go(func() {
			subject := ""
			if n == 77 {
				subject = "poison"
			}
			if _, err := b.Record(t.Context(), "org", []messages.Event{event(n, subject)}); (err != nil) != (n == 77) {
				t.Errorf("caller %d: %v", n, err)
			}
		})
	}
	for b.Waiting() < 256 {
		runtime.Gosched()
	}
	close(r.hold)
	all.Wait()
	if r.calls > 1+2*8+1 {
		t.Errorf("%d transactions", r.calls)
	}
}

// TestBatchOfAClosedDatabase checks that every caller gets an error, and no caller waits
// forever, when the database is closed.
func TestBatchOfAClosedDatabase(t *testing.T) {
	t.Parallel()
	db := storagetest.SQLite(t)
	b := newBatch(db, &tally{})
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for n := range 50 {
		all.Go(func() {
			if _, err := b.Record(t.Context(), "org", []messages.Event{event(n, "")}); err == nil {
				t.Error("an event that is not stored is acknowledged")
			}
		})
	}
	all.Wait()
}
