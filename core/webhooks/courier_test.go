package webhooks_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/messages"
	"github.com/mailhelm/mailhelm/core/standardhooks"
	"github.com/mailhelm/mailhelm/core/webhooks"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// TestSchedule lets every attempt fail. The attempts must follow the schedule, with the same
// id and body, until the delivery has failed. A resent delivery has all attempts again.
func TestSchedule(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := newWorld(t, db)
		w.receiver.answer = fail
		e, _ := w.create(webhooks.Bounced)
		w.observe(w.event(messages.Bounce))
		id := w.deliveries(e.ID)[0].ID
		round := func() {
			for tries := 1; ; tries++ {
				if n := w.sendDue(); n != 1 {
					t.Fatalf("%d requests in attempt %d", n, tries)
				}
				wait, again := standardhooks.RetryAfter(tries)
				if !again {
					break
				}
				w.advance(wait - time.Second)
				if n := w.sendDue(); wait > time.Second && n != 0 {
					t.Fatalf("attempt %d came too early", tries+1)
				}
				w.advance(time.Second)
			}
			got := w.deliveries(e.ID)[0]
			if got.State != webhooks.Failed || got.DueAt != nil || got.Status != 500 || got.Answer != "broken" || got.Tries != standardhooks.Tries {
				t.Fatalf("%+v", got)
			}
			w.advance(24 * time.Hour)
			if n := w.sendDue(); n != 0 {
				t.Fatal("a failed delivery was sent")
			}
		}
		round()
		w.must(w.hooks.Resend(t.Context(), operator, w.org, e.ID, id))
		round()
		for _, r := range w.receiver.all() {
			if r.ID != id || string(r.Body) != string(w.receiver.all()[0].Body) {
				t.Errorf("attempts differ: %+v", r)
			}
		}
		if n := len(w.receiver.all()); n != 2*standardhooks.Tries {
			t.Errorf("%d attempts", n)
		}
		failed, err := db.Webhooks().Deliveries(t.Context(), w.org, e.ID, webhooks.Filter{OnlyFailed: true, Limit: 2})
		if err != nil || len(failed) != 1 {
			t.Errorf("failed deliveries: %v, %v", failed, err)
		}
	})
}

// TestCrashSendsAgain stops a process between the POST and the write of the outcome. The
// delivery must be sent again with the same id, but not before the lease ends. The first
// process, which was only slow, must not change the outcome of the second.
func TestCrashSendsAgain(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := newWorld(t, db)
		e, _ := w.create(webhooks.Bounced)
		w.observe(w.event(messages.Bounce))
		target, ctx := webhooks.Target{OrgID: w.org, EndpointID: e.ID}, t.Context()
		lost, err := w.courier.Queue.Claim(ctx, target, w.clock(), w.clock().Add(30*time.Second), 4)
		if err != nil || len(lost.Deliveries) != 1 {
			t.Fatalf("%+v, %v", lost, err)
		}
		w.advance(30*time.Second - time.Microsecond)
		if n := w.sendDue(); n != 0 {
			t.Error("sent during the lease of another process")
		}
		w.must(w.hooks.Resend(ctx, operator, w.org, e.ID, lost.Deliveries[0].ID))
		if n := w.sendDue(); n != 0 {
			t.Error("sent while another process sends")
		}
		w.advance(time.Microsecond)
		if n := w.sendDue(); n != 1 || w.receiver.all()[0].ID != lost.Deliveries[0].ID {
			t.Errorf("%d requests after the lease", n)
		}
		late := lost.Deliveries[0]
		late.State, late.Status = webhooks.Failed, 500
		if current, err := w.courier.Queue.Settle(ctx, w.org, late); current || err != nil {
			t.Errorf("the outcome of an old claim was stored: %v", err)
		}
		if got := w.deliveries(e.ID)[0]; got.State != webhooks.Accepted || got.Status != 204 || got.Attempts != 2 {
			t.Errorf("%+v", got)
		}
	})
}

// TestInterruptedAttemptIsRepeated ends the process during attempts. They must not count as
// failures of the endpoint or as tries, and another process must repeat them at once.
func TestInterruptedAttemptIsRepeated(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := newWorld(t, db)
		e, _ := w.create(webhooks.Bounced)
		const count = webhooks.InFlight + 2
		for range count {
			w.observe(w.event(messages.Bounce))
		}
		ctx, stop := context.WithCancel(t.Context())
		w.receiver.answer = func(ctx context.Context, _ standardhooks.Request) standardhooks.Answer {
			stop()
			<-ctx.Done()
			return standardhooks.Answer{Problem: standardhooks.NotConnected}
		}
		w.courier.Run(ctx)
		if got := w.endpoint(e.ID); got.FailingSince != nil {
			t.Error("the endpoint counts as failing")
		}
		for _, d := range w.deliveries(e.ID) {
			if d.State != webhooks.Pending || d.Tries != 0 || d.DueAt == nil || d.DueAt.After(w.clock()) {
				t.Errorf("after the stop: %s, %d tries, due at %v", d.State, d.Tries, d.DueAt)
			}
		}
		w.receiver.answer = nil
		for sent := 0; sent < count; {
			n := w.sendDue()
			if sent += n; n == 0 {
				t.Fatalf("%d of %d deliveries are sent at once", sent, count)
			}
		}
		for _, d := range w.deliveries(e.ID) {
			if d.State != webhooks.Accepted || d.Tries != 1 {
				t.Errorf("%s after %d tries", d.State, d.Tries)
			}
		}
	})
}

// TestPanicStopsNoOtherDelivery lets one attempt panic. The panic must be logged without its
// value, and the delivery must be sent again when its lease ends.
func TestPanicStopsNoOtherDelivery(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storagetest.SQLite(t))
	var log bytes.Buffer
	w.courier = w.newCourier(slog.NewTextHandler(&log, nil))
	e, _ := w.create(webhooks.Bounced)
	w.observe(w.event(messages.Bounce), w.event(messages.Bounce))
	bad := w.deliveries(e.ID)[0].ID
	w.receiver.answer = func(_ context.Context, r standardhooks.Request) standardhooks.Answer {
		if r.ID == bad {
			panic("ada@example.com")
		}
		return standardhooks.Answer{Status: 204}
	}
	if n := w.sendDue(); n != 2 {
		t.Fatalf("%d requests, want 2", n)
	}
	if got := log.String(); !strings.Contains(got, "delivery_id="+bad) || strings.Contains(got, "ada@") {
		t.Errorf("the log is %q", got)
	}
	w.receiver.answer = nil
	if n := w.sendDue(); n != 0 {
		t.Errorf("%d requests before the lease ends, want 0", n)
	}
	w.advance(time.Minute)
	if n := w.sendDue(); n != 1 {
		t.Errorf("%d requests after the lease, want 1", n)
	}
	for _, d := range w.deliveries(e.ID) {
		if d.State != webhooks.Accepted {
			t.Errorf("%+v", d)
		}
	}
}

// TestFourInFlight lets several processes send to two endpoints whose receivers answer only
// when each endpoint has as many requests as it can get. No endpoint may get more than four
// at a time, and every delivery is sent once.
func TestFourInFlight(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := newWorld(t, db)
		const events = 24
		endpoints := make([]webhooks.Endpoint, 2)
		for i := range endpoints {
			endpoints[i], _ = w.create(webhooks.Bounced)
		}
		for range events {
			w.observe(w.event(messages.Bounce))
		}
		r := &crowd{arrived: map[string]int{}, full: make(chan struct{})}
		w.receiver.answer = r.answer
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		var processes sync.WaitGroup
		for range 3 {
			courier := w.newCourier(slog.DiscardHandler)
			processes.Go(func() { courier.Run(ctx) })
		}
		awaitAll(t, func() bool { return len(w.receiver.all()) == events*len(endpoints) && r.inFlight.Load() == 0 })
		stop()
		processes.Wait()
		if r.most != webhooks.InFlight {
			t.Errorf("at most %d requests at a time to one endpoint, want %d", r.most, webhooks.InFlight)
		}
		sent := map[string]int{}
		for _, one := range w.receiver.all() {
			sent[one.ID]++
		}
		if len(sent) != events*len(endpoints) {
			t.Errorf("%d deliveries were sent", len(sent))
		}
	})
}

// crowd counts the requests in flight by URL. The first requests wait until both endpoints
// have four.
type crowd struct {
	inFlight atomic.Int64
	full     chan struct{}

	mu      sync.Mutex
	arrived map[string]int
	most    int
	opened  bool
}

func (c *crowd) answer(ctx context.Context, r standardhooks.Request) standardhooks.Answer {
	c.inFlight.Add(1)
	defer c.inFlight.Add(-1)
	c.mu.Lock()
	c.arrived[r.URL]++
	c.most = max(c.most, c.arrived[r.URL])
	together := 0
	for _, n := range c.arrived {
		together += n
	}
	if together == 2*webhooks.InFlight && !c.opened {
		c.opened = true
		close(c.full)
	}
	c.mu.Unlock()
	select {
	case <-c.full:
	case <-ctx.Done():
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.arrived[r.URL]--
	return standardhooks.Answer{Status: 200}
}

// awaitAll waits until done returns true, for at most 30 seconds.
func awaitAll(t *testing.T, done func() bool) {
	t.Helper()
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	end, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for !done() {
		select {
		case <-ticker.C:
		case <-end.Done():
			t.Fatal("the deliveries were not sent within 30 seconds")
		}
	}
}

// TestDeadEndpointsDelayNoOther lets many endpoints of one organization and of others hang.
// The courier must still send to the endpoint of another organization at once.
func TestDeadEndpointsDelayNoOther(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := newWorld(t, db)
		healthy := w.org
		w.receiver.answer = fail
		for range 3 { // organizations with ten endpoints each: more than fill a lane
			w.org = core.NewID()
			for range webhooks.MaxEndpoints {
				w.create(webhooks.Bounced)
			}
			w.observe(w.event(messages.Bounce), w.event(messages.Bounce), w.event(messages.Bounce), w.event(messages.Bounce), w.event(messages.Bounce))
		}
		w.sendDue() // the endpoints fail for the first time
		w.advance(time.Minute)
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		var hanging atomic.Int64
		w.receiver.answer = func(ctx context.Context, r standardhooks.Request) standardhooks.Answer {
			if r.URL == "https://example.com/healthy" {
				return standardhooks.Answer{Status: 204}
			}
			hanging.Add(1)
			<-ctx.Done()
			return standardhooks.Answer{Problem: standardhooks.TimedOut}
		}
		var running sync.WaitGroup
		running.Go(func() { w.courier.Run(ctx) })
		awaitAll(t, func() bool { return hanging.Load() >= 64 })
		w.org = healthy
		id := core.NewID()
		_, _, err := w.hooks.Create(t.Context(), operator, w.org, id, webhooks.Settings{URL: "https://example.com/healthy", Types: []webhooks.EventType{webhooks.Bounced}, Enabled: true})
		w.must(err)
		w.observe(w.event(messages.Bounce))
		awaitAll(t, func() bool { return w.deliveries(id)[0].State == webhooks.Accepted })
		stop()
		running.Wait()
	})
}

// TestOrganizationsTakeTurns checks the order of due endpoints: one of each organization
// before a second one of any, and the endpoint that was served longest ago first.
func TestOrganizationsTakeTurns(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := newWorld(t, db)
		busy := w.org
		for range 3 {
			w.create(webhooks.Bounced)
		}
		w.observe(w.event(messages.Bounce), w.event(messages.Bounce))
		w.org = core.NewID()
		w.create(webhooks.Bounced)
		w.observe(w.event(messages.Bounce), w.event(messages.Bounce))
		ctx := t.Context()
		first, err := w.courier.Queue.Due(ctx, false, w.clock(), 2)
		if err != nil || len(first) != 2 || first[0].OrgID == first[1].OrgID {
			t.Fatalf("%v, %v", first, err)
		}
		for _, target := range first {
			if _, err := w.courier.Queue.Claim(ctx, target, w.clock(), w.clock().Add(time.Minute), 1); err != nil {
				t.Fatal(err)
			}
		}
		next, err := w.courier.Queue.Due(ctx, false, w.clock(), 10)
		if err != nil || len(next) != 4 || next[0].OrgID != busy || next[0] == first[0] || next[0] == first[1] {
			t.Errorf("%v after %v, %v", next, first, err)
		}
	})
}

// TestSlowEndpointChangesLane lets an endpoint answer after two seconds, then at once.
func TestSlowEndpointChangesLane(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := newWorld(t, db)
		w.create(webhooks.Bounced)
		for _, took := range []time.Duration{2 * time.Second, 0} {
			w.receiver.answer = func(context.Context, standardhooks.Request) standardhooks.Answer {
				w.advance(took)
				return standardhooks.Answer{Status: 200}
			}
			w.observe(w.event(messages.Bounce))
			if n := w.sendDue(); n != 1 {
				t.Fatalf("%d requests", n)
			}
			w.observe(w.event(messages.Bounce))
			for _, lane := range []bool{true, false} {
				due, err := w.courier.Queue.Due(t.Context(), lane, w.clock(), 10)
				if slow := took > 0; err != nil || (len(due) == 1) != (lane == slow) {
					t.Errorf("after an answer in %v, slow lane %v: %v, %v", took, lane, due, err)
				}
			}
			w.receiver.answer = nil
			w.must(w.courier.SendDue(t.Context()))
		}
	})
}

// TestRotation checks that both secrets sign for 24 hours, then only the new one.
func TestRotation(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := newWorld(t, db)
		e, first := w.create(webhooks.Bounced)
		send := func() []string {
			w.observe(w.event(messages.Bounce))
			if n := w.sendDue(); n != 1 {
				t.Fatalf("%d requests", n)
			}
			all := w.receiver.all()
			return all[len(all)-1].Secrets
		}
		check := func(when string, want ...string) {
			t.Helper()
			if got := send(); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%s: signed with %d secrets, want %d", when, len(got), len(want))
			}
		}
		check("new endpoint", first)
		_, second, err := w.hooks.Rotate(t.Context(), operator, w.org, e.ID)
		w.must(err)
		check("after the rotation", second, first)
		w.advance(webhooks.Grace - time.Microsecond)
		check("at the end of the grace", second, first)
		_, third, err := w.hooks.Rotate(t.Context(), operator, w.org, e.ID)
		w.must(err)
		check("after a second rotation", third, second)
		w.advance(webhooks.Grace)
		check("after the grace", third)
		if stored := w.endpoint(e.ID); string(stored.Secret) == third || len(stored.Previous) == 0 {
			t.Errorf("stored: %+v", stored)
		}
		w.must(webhooks.PurgeWorker(db.Webhooks(), w.orgs, w.clock).Work(t.Context(), webhooks.PurgeArgs{}))
		if stored := w.endpoint(e.ID); stored.Previous != nil || stored.PreviousUntil != nil {
			t.Error("the replaced secret is still stored")
		}
	})
}

func (w *world) orgs(context.Context) ([]string, error) { return []string{w.org}, nil }

// TestFailingEndpointIsDisabled lets an endpoint fail for five days. One success in between
// starts the five days again.
func TestFailingEndpointIsDisabled(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := newWorld(t, db)
		e, _ := w.create(webhooks.Bounced)
		attempt := func(answer func(context.Context, standardhooks.Request) standardhooks.Answer) {
			t.Helper()
			w.receiver.answer = answer
			w.observe(w.event(messages.Bounce))
			if n := w.sendDue(); n == 0 {
				t.Fatal("nothing was sent")
			}
		}
		attempt(fail)
		w.advance(webhooks.FailingLimit - time.Hour)
		attempt(nil)
		attempt(fail)
		w.advance(webhooks.FailingLimit - time.Second)
		attempt(fail)
		if got := w.endpoint(e.ID); !got.Enabled || got.FailingSince == nil {
			t.Fatalf("before the limit: %+v", got)
		}
		w.advance(time.Hour)
		attempt(fail)
		got := w.endpoint(e.ID)
		if got.Enabled || got.DisabledAt == nil || !got.DisabledAt.Equal(w.clock()) {
			t.Fatalf("after the limit: %+v", got)
		}
		w.advance(time.Hour)
		if n := w.sendDue(); n != 0 {
			t.Error("a disabled endpoint was sent deliveries")
		}
		if err := w.hooks.Resend(t.Context(), operator, w.org, e.ID, w.deliveries(e.ID)[0].ID); !core.IsConflict(err) {
			t.Errorf("resent to a disabled endpoint: %v", err)
		}
		audit, err := db.Audit().FindAudit(t.Context(), w.org, access.AuditFilter{Action: "webhook.disabled", SubjectID: e.ID, Limit: 10})
		if err != nil || len(audit) != 1 {
			t.Errorf("audit: %v, %v", audit, err)
		}
		waiting := len(w.deliveries(e.ID))
		w.must(second(w.hooks.Edit(t.Context(), operator, w.org, e.ID, webhooks.Settings{URL: e.URL, Types: e.Types, Enabled: true})))
		w.receiver.answer = nil
		if n := w.sendDue(); n == 0 {
			t.Errorf("nothing of %d deliveries is sent after the endpoint is enabled", waiting)
		}
		if got := w.endpoint(e.ID); got.DisabledAt != nil || got.FailingSince != nil {
			t.Errorf("enabled again: %+v", got)
		}
	})
}

func second[T any](_ T, err error) error { return err }
