package site_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core/site"
	"github.com/mailhelm/mailhelm/core/visitorids"
)

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

// world has an intake over stores in memory. The key "k1" is of the organization one, "k2" of
// two, which has turned beacons off, and "k3" of three, until an hour after noon.
type world struct {
	site.Store // for methods that no test calls
	*site.Intake

	mu       sync.Mutex
	now      time.Time
	failing  error
	recorded []string
	stored   []site.DayCount
	outcomes map[site.Outcome]int
	purged   []time.Time
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{now: noon, outcomes: map[site.Outcome]int{}}
	keys := site.NewKeys(w, w.clock)
	if err := keys.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.Intake = site.NewIntake(site.Config{
		Store: w, Keys: keys, Visitors: w, Activities: w, Clock: w.clock, Log: slog.New(slog.DiscardHandler),
		Observe: func(o site.Outcome, n int) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.outcomes[o] += n
		},
	})
	return w
}

func (w *world) clock() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

func (w *world) set(now time.Time, failing error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now, w.failing = now, failing
}

func (w *world) AllSiteKeys(context.Context, time.Time) ([]site.OwnedKey, error) {
	return []site.OwnedKey{
		{OrgID: "one", Hash: site.HashOf("k1")},
		{OrgID: "two", Hash: site.HashOf("k2"), Off: true},
		{OrgID: "three", Hash: site.HashOf("k3"), ExpiresAt: noon.Add(time.Hour)},
	}, nil
}

func (w *world) AddSiteCounts(_ context.Context, counts []site.DayCount) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stored = append(w.stored, counts...)
	return w.failing
}

func (w *world) PurgeSiteCounts(_ context.Context, before time.Time) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.purged = append(w.purged, before)
	return nil
}

func (w *world) ContactsOf(_ context.Context, ids []visitorids.Key) (map[visitorids.Key]string, error) {
	found := map[visitorids.Key]string{}
	for _, id := range ids {
		if id.Hash == visitorids.HashOf(visitor) {
			found[id] = "contact"
		}
	}
	return found, nil
}

func (w *world) RecordVisits(_ context.Context, orgID string, visits []site.Visit) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.failing != nil && orgID == "one" {
		return 0, w.failing
	}
	for _, v := range visits {
		w.recorded = append(w.recorded, orgID+" "+v.Name)
	}
	return 0, nil
}

// visitor is a known visitor id, stranger an unknown one.
var (
	visitor  = "vis_" + strings.Repeat("0", 26)
	stranger = "vis_" + strings.Repeat("1", 26)
)

func beacon(key, visitor, name string) []byte {
	return fmt.Appendf(nil, `{"site_key":%q,"visitor_id":%q,"name":%q}`, key, visitor, name)
}

// accept sends a beacon from an address of its own and checks the outcome.
func (w *world) accept(t *testing.T, n int, body []byte, want site.Outcome) {
	t.Helper()
	if got := w.Accept(fmt.Sprintf("10.%d.%d.%d:1", n>>16, n>>8&255, n&255), body); got != want {
		t.Errorf("%s: %s, want %s", body, got, want)
	}
}

func TestAccept(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.accept(t, 1, beacon("k1", visitor, "site_x"), site.Accepted)
	w.accept(t, 1, beacon("k3", visitor, "site_x"), site.Accepted)
	w.accept(t, 1, beacon("k1", stranger, "site_x"), site.Accepted) // the writer finds out
	w.accept(t, 1, beacon("k2", visitor, "site_x"), site.TurnedOff)
	w.accept(t, 1, beacon("k2", visitor, "bad"), site.TurnedOff)
	w.accept(t, 1, beacon("k4", visitor, "site_x"), site.UnknownKey)
	w.accept(t, 1, beacon("k1", visitor, "site_X"), site.BadName)
	w.accept(t, 1, beacon("k1", visitor, "site_identified"), site.BadName) // an activity of Mailhelm itself
	w.accept(t, 1, beacon("k1", "vis_", "site_x"), site.UnknownVisitor)
	w.accept(t, 1, nil, site.Malformed)
	w.set(noon.Add(time.Hour), nil)
	w.accept(t, 1, beacon("k3", visitor, "site_x"), site.UnknownKey)
	if err := w.Flush(t.Context()); err != nil || len(w.recorded) != 2 || w.outcomes[site.Written] != 2 || w.outcomes[site.UnknownVisitor] != 2 || w.Queued() != 0 {
		t.Errorf("%v %v %v", w.recorded, w.outcomes, err)
	}
}

// TestQueueIsBounded fills the queue with beacons that no writer takes.
func TestQueueIsBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	large := fmt.Appendf(nil, `{"site_key":"k1","visitor_id":%q,"name":"site_visit","session_id":"s","title":%q,"path":%q,"referrer":%q}`,
		visitor, strings.Repeat("t", 2048), strings.Repeat("p", 2048), strings.Repeat("r", 2048))
	accepted := 0
	for n := range 100_000 {
		if w.Accept(fmt.Sprintf("10.%d.%d.%d:1", n>>16, n>>8&255, n&255), large) == site.QueueFull {
			break
		}
		accepted++
	}
	if accepted < 4000 || accepted > 32<<20/(3*2048) || w.Queued() != accepted {
		t.Errorf("%d beacons of 6 KiB accepted, %d queued", accepted, w.Queued())
	}
	if err := w.Flush(t.Context()); err != nil || len(w.recorded) != accepted || w.Queued() != 0 {
		t.Errorf("%d of %d written, %d queued, %v", len(w.recorded), accepted, w.Queued(), err)
	}
	w.accept(t, 1, large, site.Accepted)
}

// TestFailedWrites lets writes of one organization fail. Its beacons stay in the queue, in
// their order, until they are ten minutes old.
func TestFailedWrites(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	refused := errors.New("refused")
	w.accept(t, 1, beacon("k1", visitor, "site_a"), site.Accepted)
	w.accept(t, 1, beacon("k3", visitor, "site_b"), site.Accepted)
	w.set(noon, refused)
	if err := w.Flush(t.Context()); !errors.Is(err, refused) || w.Queued() != 1 {
		t.Errorf("%v, %d queued", err, w.Queued())
	}
	w.accept(t, 1, beacon("k1", visitor, "site_c"), site.Accepted)
	w.set(noon.Add(10*time.Minute), nil)
	if err := w.Flush(t.Context()); err != nil || fmt.Sprint(w.recorded) != "[three site_b one site_a one site_c]" {
		t.Errorf("%v %v", w.recorded, err)
	}
	w.accept(t, 1, beacon("k1", visitor, "site_d"), site.Accepted)
	w.set(noon.Add(20*time.Minute+1), refused)
	if err := w.Flush(t.Context()); !errors.Is(err, refused) || w.Queued() != 0 || w.outcomes[site.Failed] != 1 {
		t.Errorf("%v, %d queued, %v", err, w.Queued(), w.outcomes)
	}
}

// TestFollow checks that a long queue is written before a tick, that a stop writes the rest
// while the database fails at first, and that names are counted within their limit.
func TestFollow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx, stop := context.WithCancel(t.Context())
	ticks, done := make(chan time.Time), make(chan struct{})
	go func() {
		w.Follow(ctx, ticks)
		close(done)
	}()
	for n := range 1000 {
		w.accept(t, n, fmt.Appendf(nil, `{"site_key":"k1","visitor_id":%q,"name":"site_visit","session_id":"%d"}`, visitor, n), site.Accepted)
	}
	ticks <- noon // is taken when the queue is written, or writes it
	ticks <- noon
	w.mu.Lock()
	if len(w.recorded) != 1000 {
		t.Errorf("%d written", len(w.recorded))
	}
	w.mu.Unlock()
	for n := range 30 {
		w.accept(t, n, beacon("k1", visitor, fmt.Sprintf("Bad%d%s", n, strings.Repeat("x", 100))), site.BadName)
	}
	w.set(noon, errors.New("refused"))
	w.accept(t, 1, beacon("k1", visitor, "site_last"), site.Accepted)
	stop()
	w.set(noon, nil)
	<-done
	if w.recorded[len(w.recorded)-1] != "one site_last" || w.Queued() != 0 || len(w.purged) != 1 {
		t.Errorf("%v, %d queued, purged %v", w.recorded[len(w.recorded)-1], w.Queued(), w.purged)
	}
	names, others := 0, int64(0)
	for _, c := range w.stored {
		switch {
		case c.Outcome == site.BadName && c.Name == "":
			others = c.Beacons
		case c.Outcome == site.BadName && len(c.Name) == 64:
			names++
		}
	}
	if names != 20 || others != 10 {
		t.Errorf("%d names, %d other beacons in %+v", names, others, w.stored)
	}
}
