package inboxes_test

import (
	"context"
	"errors"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/inbound"
	"github.com/mailhelm/mailhelm/core/inboxes"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
	inboxstore "github.com/mailhelm/mailhelm/storage/inboxes"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// asked waits until as many polls wait.
func asked(t *testing.T, w *inboxes.Waiting, want int) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); w.Polls() != want; runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatalf("%d polls wait, want %d", w.Polls(), want)
		}
	}
}

// answer is the result of a poll that waited.
type answer struct {
	arrived inboxes.Arrived
	err     error
}

// waits starts a poll of the pull link.
func (w *world) waits(ctx context.Context, m inboxes.MintedView, wait time.Duration, match inboxes.Match) <-chan answer {
	answers := make(chan answer, 1)
	go func() {
		arrived, err := w.inboxes.PullMessages(ctx, secretOf(m.PullURL), inboxes.Query{Wait: wait, Match: match})
		answers <- answer{arrived, err}
	}()
	return answers
}

// TestMailWakesPolls lets polls wait for mail: one that matches all, one that matches only the
// second message, and one at another inbox.
func TestMailWakesPolls(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := newWorld(t, db)
		m, other := w.mint(`{}`), w.mint(`{}`)
		ctx, cancel := context.WithCancel(t.Context())
		all, second, elsewhere := w.waits(ctx, m, inboxes.MaxWait, inboxes.Match{}), w.waits(ctx, m, inboxes.MaxWait, inboxes.Match{Subject: "second"}), w.waits(ctx, other, inboxes.MaxWait, inboxes.Match{})
		asked(t, w.waiting, 3)
		w.deliver(m.Address, w.message("first", "shop@example.com"))
		if got := <-all; got.err != nil || len(got.arrived.Messages) != 1 || got.arrived.Cursor != "1" {
			t.Errorf("%+v", got)
		}
		asked(t, w.waiting, 2)
		later := w.message("second", "shop@example.com")
		later.Subject = "The second"
		w.deliver(m.Address, later)
		if got := <-second; got.err != nil || len(got.arrived.Messages) != 1 || got.arrived.Messages[0].MessageID != "second" || got.arrived.Cursor != "2" {
			t.Errorf("%+v", got)
		}
		cancel()
		if got := <-elsewhere; !errors.Is(got.err, context.Canceled) {
			t.Errorf("%+v", got)
		}
		asked(t, w.waiting, 0)
	})
}

// TestPollOfManyMessages polls for one message behind more others than one read compares. The poll
// must not wait before it has compared all of them.
func TestPollOfManyMessages(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := newWorld(t, db)
		m := w.mint(`{}`)
		var all []inbound.Delivery
		for range 1100 {
			all = append(all, w.routed(m.Address, w.message(core.NewID(), "shop@example.com")))
		}
		wanted := w.message(core.NewID(), "shop@example.com")
		wanted.Subject = "The wanted one"
		w.deliverAll(append(all, w.routed(m.Address, wanted))...)
		q := inboxes.Query{Wait: inboxes.MaxWait, Match: inboxes.Match{Subject: "wanted"}}
		ctx, cancel := context.WithTimeout(t.Context(), inboxes.MaxWait-time.Second)
		defer cancel()
		for range 2 {
			arrived, err := w.inboxes.PullMessages(ctx, secretOf(m.PullURL), q)
			if err != nil {
				t.Fatal(err)
			}
			if len(arrived.Messages) > 0 {
				if got := arrived.Messages[0].MessageID; got != wanted.ID {
					t.Errorf("the message %s arrived", got)
				}
				return
			}
			if q.After, err = strconv.Atoi(arrived.Cursor); err != nil || q.After < 1000 {
				t.Fatalf("cursor %s, %v", arrived.Cursor, err)
			}
		}
		t.Error("the message was not found")
	})
}

// TestDeletionEndsPolls deletes an inbox while a poll waits.
func TestDeletionEndsPolls(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := newWorld(t, db)
		m := w.mint(`{}`)
		waiting := w.waits(t.Context(), m, inboxes.MaxWait, inboxes.Match{})
		asked(t, w.waiting, 1)
		as[core.Deleted](w, w.ann, "inboxes_delete", `{"id": "`+m.ID+`"}`)
		if got := <-waiting; !core.IsNotFound(got.err) {
			t.Errorf("%+v", got)
		}
	})
}

// TestWaitEnds lets polls wait until their time is over: the wait, and the end of the inbox.
func TestWaitEnds(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storagetest.SQLite(t))
	m := w.mint(`{"ttl": 60}`)
	if got := <-w.waits(t.Context(), m, 50*time.Millisecond, inboxes.Match{}); got.err != nil || len(got.arrived.Messages) != 0 {
		t.Errorf("%+v", got)
	}
	w.advance(time.Minute - 50*time.Millisecond)
	if got := <-w.waits(t.Context(), m, inboxes.MaxWait, inboxes.Match{}); got.err != nil || len(got.arrived.Messages) != 0 {
		t.Errorf("%+v", got)
	}
}

// TestStopEndsPolls stops the process while a poll waits. Later polls answer at once.
func TestStopEndsPolls(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storagetest.SQLite(t))
	m := w.mint(`{}`)
	waiting := w.waits(t.Context(), m, inboxes.MaxWait, inboxes.Match{})
	asked(t, w.waiting, 1)
	w.waiting.Close()
	for _, got := range []answer{<-waiting, <-w.waits(t.Context(), m, inboxes.MaxWait, inboxes.Match{})} {
		if got.err != nil || len(got.arrived.Messages) != 0 || got.arrived.Cursor != "0" {
			t.Errorf("%+v", got)
		}
	}
}

// TestOtherProcessWakesPolls delivers mail in another process on the same PostgreSQL database.
func TestOtherProcessWakesPolls(t *testing.T) {
	t.Parallel()
	url := enginetest.PostgresURL(t)
	here := newWorld(t, storagetest.Open(t, storage.Config{URL: url}))
	there := newWorld(t, storagetest.Open(t, storage.Config{URL: url}))
	ctx, stop := context.WithCancel(t.Context())
	var following sync.WaitGroup
	defer following.Wait()
	defer stop()
	m := here.mint(`{}`)
	waiting := here.waits(ctx, m, inboxes.MaxWait, inboxes.Match{})
	asked(t, here.waiting, 1)
	following.Go(func() { inboxstore.NewNotices(here.db.DB).Follow(ctx, here.waiting) })
	began := time.Now()
	there.deliver(m.Address, there.message("m", "shop@example.com"))
	got := <-waiting
	if got.err != nil || len(got.arrived.Messages) != 1 {
		t.Errorf("%+v", got)
	}
	if took := time.Since(began); took > inboxes.MaxWait/2 {
		t.Errorf("the poll waited for %v", took)
	}
}
