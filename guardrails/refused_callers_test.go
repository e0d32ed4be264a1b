package guardrails_test

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/guardrails"
	"github.com/prometheus/client_golang/prometheus"
)

// distantBuckets is a shared store that counts what it is asked. Each request takes a time, half of
// it before the store decides.
type distantBuckets struct {
	guardrails.Buckets
	clock *testClock
	takes time.Duration
	asked int
}

func (d *distantBuckets) Take(ctx context.Context, key guardrails.BucketKey, limit, cost int) (guardrails.Rate, bool, error) {
	d.asked++
	d.clock.advance(d.takes / 2)
	state, admitted, err := d.Buckets.Take(ctx, key, limit, cost)
	d.clock.advance(d.takes / 2)
	return state, admitted, err
}

// process is one of several processes with a shared store.
func process(clock *testClock, limit *int, store guardrails.Buckets) *guardrails.Catalogue {
	of := &bundle{clock: clock, principal: core.Principal{Org: core.Org{ID: "org", RateLimit: limit}, Credential: core.Credential{Environment: core.Live}}}
	return guardrails.New(guardrails.Config{
		Authenticator: oneCaller{of}, Clock: clock.Now, Metrics: prometheus.NewRegistry(), Log: slog.New(slog.DiscardHandler), SharedBuckets: store,
	}).Catalogue(nil)
}

// TestRefusedCallersDecideAsTheStore makes calls at drawn times in two processes with a shared store
// that answers at once. Each decision and each header must be that of the store, although it is
// asked about few of the refused calls.
func TestRefusedCallersDecideAsTheStore(t *testing.T) {
	t.Parallel()
	for _, limit := range []int{1, 7, 120, 130} {
		random := rand.New(rand.NewPCG(uint64(limit), 5))
		clock := &testClock{now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
		store, oracle := &distantBuckets{Buckets: guardrails.OwnBuckets(clock.Now), clock: clock}, guardrails.OwnBuckets(clock.Now)
		processes := []*guardrails.Catalogue{process(clock, &limit, store), process(clock, &limit, store)}
		refused, admitted := 0, 0
		for range 4000 {
			clock.advance(time.Duration(random.ExpFloat64() * float64(guardrails.Window) / float64(10*limit)).Truncate(time.Microsecond))
			want, ok, _ := oracle.Take(t.Context(), guardrails.BucketKey{OrgID: "org"}, limit, 1)
			a, err := processes[random.IntN(2)].Admit(t.Context(), []string{"Bearer good"}, access.API)
			if (err == nil) != ok || a.Rate.Remaining != want.Remaining || a.Rate.Reset != want.Reset || a.Rate.RetryAfter != want.RetryAfter || a.Rate.Limit != limit {
				t.Fatalf("limit %d: %+v, %v, want %+v, %t", limit, *a.Rate, err, want, ok)
			}
			if ok {
				admitted++
			} else {
				refused++
			}
		}
		if asked := store.asked - admitted; refused < 3000 || asked > refused/3 {
			t.Errorf("limit %d: asked about %d of %d refused calls", limit, asked, refused)
		}
	}
}

// TestRefusedCallersAreNotRefusedForLonger asks a store that takes 40 ms to answer. A caller must not
// be refused after the store would admit it, and the waits in the answers must suffice.
func TestRefusedCallersAreNotRefusedForLonger(t *testing.T) {
	t.Parallel()
	limit := 2
	clock := &testClock{now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	store := &distantBuckets{Buckets: guardrails.OwnBuckets(clock.Now), clock: clock, takes: 40 * time.Millisecond}
	of := process(clock, &limit, store)
	for range 2 {
		if _, err := of.Admit(t.Context(), []string{"Bearer good"}, access.API); err != nil {
			t.Fatal(err)
		}
	}
	// The store took the first token when half of the first request had passed.
	free := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).Add(guardrails.Window + 20*time.Millisecond)
	for clock.Now().Before(free.Add(-150 * time.Millisecond)) {
		a, err := of.Admit(t.Context(), []string{"Bearer good"}, access.API)
		wantCode(t, core.AsError(err), core.CodeRateLimited)
		if told := clock.Now().Add(a.Rate.RetryAfter); told.Before(free) {
			t.Errorf("told to wait until %s, the store admits at %s", told, free)
		}
		clock.advance(100 * time.Millisecond)
	}
	if store.asked != 3 {
		t.Errorf("asked %d times for 2 admitted calls and the refused ones, want 3", store.asked)
	}
	clock.advance(free.Add(-20 * time.Millisecond).Sub(clock.Now())) // the store decides when the token has returned
	if _, err := of.Admit(t.Context(), []string{"Bearer good"}, access.API); err != nil {
		t.Errorf("refused after the token returned: %v", err)
	}
	limit = 3 // a bucket whose limit changes is full
	if _, err := of.Admit(t.Context(), []string{"Bearer good"}, access.API); err != nil {
		t.Errorf("refused after the limit changed: %v", err)
	}
}
