package spool_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/inbound"
	"github.com/mailhelm/mailhelm/core/inbound/spool"
	"github.com/mailhelm/mailhelm/core/objects"
	"github.com/mailhelm/mailhelm/core/objects/objectstest"
	"github.com/mailhelm/mailhelm/storage"
	inboundstore "github.com/mailhelm/mailhelm/storage/inbound"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// later is a time at which the files that a test writes are old.
func later() time.Time { return time.Now().Add(spool.LeftoverAge + time.Hour) }

// delivered is a destination that has a message with one object.
type delivered struct {
	id, key string
	err     error
}

func (d *delivered) Held(_ context.Context, _ string, ids []string) ([]inbound.Holding, error) {
	if !slices.Contains(ids, d.id) {
		return nil, d.err
	}
	return []inbound.Holding{{MessageID: d.id, Keys: []string{d.key}}}, d.err
}

// sweeping is a sweeper of one organization.
type sweeping struct {
	*world
	*spool.Sweeper
	org         string
	destination delivered
	now         time.Time
}

func newSweeping(w *world, known spool.Holder) *sweeping {
	s := &sweeping{world: w, org: core.NewID(), now: later()}
	s.Sweeper = spool.NewSweeper(spool.SweepConfig{
		Places: w.stores, Holders: []spool.Holder{known, &s.destination}, Clock: func() time.Time { return s.now }, Log: slog.New(slog.DiscardHandler),
		Orgs: func(context.Context) ([]string, error) { return []string{s.org}, nil },
	})
	return s
}

// accept accepts a message and returns the key of its object.
func (s *sweeping) accept(t *testing.T) (id, key string) {
	t.Helper()
	e := envelope(s.org)
	if err := s.spool.Accept(t.Context(), e, strings.NewReader("message")); err != nil {
		t.Fatal(err)
	}
	keys, _, err := s.stores.Files.Of(s.org).List(t.Context(), s.org, later(), "", 1000)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(keys, func(key string) bool { return strings.Contains(key, e.ID) })
	if i < 0 {
		t.Fatalf("no object of %s is among %v", e.ID, keys)
	}
	return e.ID, keys[i]
}

// put stores an object.
func (s *sweeping) put(t *testing.T, key string) string {
	t.Helper()
	store, err := s.stores.Of(t.Context(), s.org)
	if err != nil {
		t.Fatal(err)
	}
	objectstest.Put(t, store, key, "object")
	return key
}

// has reports which of the objects exist.
func (s *sweeping) has(t *testing.T, keys ...string) []bool {
	t.Helper()
	store, err := s.stores.Of(t.Context(), s.org)
	if err != nil {
		t.Fatal(err)
	}
	found := make([]bool, len(keys))
	for i, key := range keys {
		_, found[i] = objectstest.Content(t, store, key)
	}
	return found
}

// TestSweepDeletesWhatNoMessageNames sweeps when the objects are young, and when they are old.
func TestSweepDeletesWhatNoMessageNames(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		queue := inboundstore.NewQueue(db.DB)
		w := newWorld(t, queue)
		s := newSweeping(w, queue)
		_, waiting := s.accept(t)
		id, lost := s.accept(t)
		settle(t, queue, id)
		deliveredID, kept := s.accept(t)
		settle(t, queue, deliveredID)
		s.destination.id, s.destination.key = deliveredID, kept
		folder := strings.Split(lost, "/")[1]
		copied := s.put(t, objects.AttachmentKey(s.org, folder+".1", 0))
		interrupted := s.put(t, objects.AttachmentKey(s.org, strings.Split(kept, "/")[1], 0))
		others := s.put(t, objects.RawKey(s.org, core.NewID())) // not of a spool
		all := []string{waiting, kept, others, lost, copied, interrupted}
		s.now = time.Now().Add(spool.LeftoverAge - time.Hour)
		for _, want := range [][]bool{{true, true, true, true, true, true}, {true, true, true, false, false, false}} {
			if err := s.Worker().Work(t.Context(), spool.SweepArgs{}); err != nil {
				t.Fatal(err)
			}
			if got := s.has(t, all...); !slices.Equal(got, want) {
				t.Errorf("at %v the objects waiting, kept, of others, lost, copied and of an interrupted attempt exist: %v, want %v", s.now, got, want)
			}
			s.now = later()
		}
	})
}

// settle ends the task of a message.
func settle(t *testing.T, queue inbound.Queue, id string) {
	t.Helper()
	found, err := queue.Claim(t.Context(), now, now, 100)
	if err != nil {
		t.Fatal(err)
	}
	for _, task := range found {
		if task.Envelope.ID != id {
			continue
		}
		if again, err := queue.Settle(t.Context(), []inbound.Task{task}); err != nil || len(again) > 0 {
			t.Fatal(again, err)
		}
		return
	}
	t.Fatalf("there is no task %s", id)
}

// TestSweepKeepsWhatItCannotLookUp lets a holder fail: no object is deleted.
func TestSweepKeepsWhatItCannotLookUp(t *testing.T) {
	t.Parallel()
	queue := inboundstore.NewQueue(storagetest.SQLite(t).DB)
	s := newSweeping(newWorld(t, queue), queue)
	id, key := s.accept(t)
	settle(t, queue, id)
	s.destination.err = errors.New("no database")
	if err := s.Sweep(t.Context(), s.org); !errors.Is(err, s.destination.err) {
		t.Errorf("error %v", err)
	}
	if !s.has(t, key)[0] {
		t.Error("an object was deleted although a destination could not be asked")
	}
	s.destination.err = nil
	s.stores.Fail = func(call, _ string) error {
		if call == "delete" {
			return objects.ErrUnavailable
		}
		return nil
	}
	if err := s.Sweep(t.Context(), s.org); !errors.Is(err, objects.ErrUnavailable) {
		t.Errorf("error %v", err)
	}
	s.stores.Fail = nil
	if err := s.Sweep(t.Context(), s.org); err != nil || s.has(t, key)[0] {
		t.Errorf("the object remains after a failed deletion, %v", err)
	}
}

// pages is a store that has objects in pages without an end, of which each names a message.
type pages struct {
	objects.Store
	calls   []string
	deleted int
}

func (*pages) ID() string { return "pages" }

func (p *pages) List(_ context.Context, orgID string, _ time.Time, after string, _ int) ([]string, string, error) {
	p.calls = append(p.calls, after)
	return []string{objects.RawKey(orgID, core.NewID()+"_unique")}, fmt.Sprintf("%03d", len(p.calls)), nil
}

func (p *pages) Delete(_ context.Context, keys ...string) error {
	p.deleted += len(keys)
	return nil
}

func (p *pages) All(context.Context, string) ([]objects.Store, error) { return []objects.Store{p}, nil }

// TestSweepIsBounded sweeps a store that does not end: a run looks at a part, and the next run
// continues after it.
func TestSweepIsBounded(t *testing.T) {
	t.Parallel()
	var p pages
	s := spool.NewSweeper(spool.SweepConfig{Places: &p, Holders: []spool.Holder{&delivered{}}, Clock: time.Now, Log: slog.New(slog.DiscardHandler)})
	const inRun = 50
	for run := 1; run <= 2; run++ {
		if err := s.Sweep(t.Context(), "org"); err != nil {
			t.Fatal(err)
		}
		if len(p.calls) != run*inRun || p.deleted != run*inRun || run == 2 && p.calls[inRun] != "050" {
			t.Fatalf("%d calls after %d runs, %d deleted: %q", len(p.calls), run, p.deleted, p.calls)
		}
	}
}
