package guardrails_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/guardrails"
	"github.com/prometheus/client_golang/prometheus"
)

// faultyBuckets simulates the shared store of rate limits. It admits every call, unless a
// test makes it fail or hang. conformance/server tests the real store.
type faultyBuckets struct {
	mu    sync.Mutex
	asked int
	fault error
	slow  bool
}

const sharedLimit = 77 // limit by which tests recognize a result of the shared store

func (f *faultyBuckets) Take(ctx context.Context, _ guardrails.BucketKey, _, _ int) (guardrails.Rate, bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked++
	if f.slow {
		<-ctx.Done()
		return guardrails.Rate{}, false, ctx.Err()
	}
	return guardrails.Rate{Limit: sharedLimit}, true, f.fault
}

func (f *faultyBuckets) setFault(fault error, slow bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fault, f.slow = fault, slow
}

// sharing has guardrails with a simulated shared store, and a caller with a rate limit of 2
// calls per minute.
type sharing struct {
	*bundle
	shared  *faultyBuckets
	metrics *prometheus.Registry
	log     bytes.Buffer
}

func share(t *testing.T) *sharing {
	t.Helper()
	s := &sharing{
		bundle:  &bundle{clock: &testClock{now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}},
		shared:  &faultyBuckets{},
		metrics: prometheus.NewRegistry(),
	}
	limit := 2
	s.principal = core.Principal{Org: core.Org{ID: core.NewID(), RateLimit: &limit}, Credential: core.Credential{Environment: core.Live}}
	s.catalogue = guardrails.New(guardrails.Config{
		Authenticator: oneCaller{s.bundle}, Clock: s.clock.Now, Metrics: s.metrics,
		Log: slog.New(slog.NewTextHandler(&s.log, nil)), SharedBuckets: s.shared,
	}).Catalogue(nil)
	return s
}

// admit makes a request. It returns whether the rate limit of the shared store was used,
// and whether the request was admitted.
func (s *sharing) admit(ctx context.Context, t *testing.T) (shared, ok bool) {
	t.Helper()
	a, err := s.catalogue.Admit(ctx, []string{"Bearer good"}, access.API)
	if err != nil {
		wantCode(t, core.AsError(err), core.CodeRateLimited)
	}
	return a.Rate.Limit == sharedLimit, err == nil
}

func (s *sharing) wantFallbacks(t *testing.T, failed, skipped float64) {
	t.Helper()
	families, err := s.metrics.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			if family.GetName() == "mailhelm_rate_limit_fallbacks_total" {
				got[m.GetLabel()[0].GetValue()] = m.GetCounter().GetValue()
			}
		}
	}
	if got["failed"] != failed || got["skipped"] != skipped {
		t.Errorf("%v, want %v failed and %v skipped", got, failed, skipped)
	}
}

func TestSharedBucketsThatFailAreReplacedByOwn(t *testing.T) {
	t.Parallel()
	s := share(t)
	if shared, ok := s.admit(t.Context(), t); !shared || !ok {
		t.Fatal("the shared buckets were not asked")
	}
	s.shared.setFault(errors.New("away"), false)
	// While the store fails, this process enforces the limit by its own counts. They include
	// the call that the shared store admitted before.
	for i, want := range []bool{true, false, false, false, false} {
		if shared, ok := s.admit(t.Context(), t); shared || ok != want {
			t.Errorf("call %d: shared %t, admitted %t", i, shared, ok)
		}
	}
	if s.shared.asked != 4 {
		t.Errorf("asked %d times; after three failures in a row it is left alone", s.shared.asked)
	}
	s.wantFallbacks(t, 3, 2)
	s.clock.advance(5 * time.Second)
	s.admit(t.Context(), t)
	s.admit(t.Context(), t)
	if s.shared.asked != 5 {
		t.Errorf("asked %d times; after the pause one call tries", s.shared.asked)
	}
	s.shared.setFault(nil, false)
	s.clock.advance(5 * time.Second)
	if _, ok := s.admit(t.Context(), t); ok {
		t.Error("what was admitted without the store does not count when it is back")
	}
	s.clock.advance(guardrails.Window)
	for range 2 {
		if shared, ok := s.admit(t.Context(), t); !shared || !ok {
			t.Error("the shared buckets answer and are not used")
		}
	}
	if log := s.log.String(); strings.Count(log, "level=WARN") != 1 || strings.Count(log, "shared again") != 1 || !strings.Contains(log, "error=away") {
		t.Errorf("the log tells once of the failure and once of its end:\n%s", log)
	}
}

func TestBucketFailuresAreLoggedOnceAMinute(t *testing.T) {
	t.Parallel()
	s := share(t)
	s.shared.setFault(errors.New("away"), false)
	for range 130 {
		s.admit(t.Context(), t)
		s.clock.advance(time.Second)
	}
	if n := strings.Count(s.log.String(), "level=WARN"); n != 3 {
		t.Errorf("%d lines in a little over two minutes", n)
	}
}

func TestSlowSharedBucketsCostLittleAndNotForLong(t *testing.T) {
	t.Parallel()
	s := share(t)
	s.shared.setFault(nil, true)
	begun := time.Now()
	for range 100 {
		if shared, _ := s.admit(t.Context(), t); shared {
			t.Fatal("a slow store answered")
		}
	}
	if took := time.Since(begun); s.shared.asked != 3 || took > 5*time.Second {
		t.Errorf("asked %d times in %v; three waits of 50 ms are allowed", s.shared.asked, took)
	}
}

// TestACallerWhoIsGoneIsCountedAllTheSame checks that a call of a disconnected caller is
// counted in the shared store. The disconnection must not count as a failure of the store.
func TestACallerWhoIsGoneIsCountedAllTheSame(t *testing.T) {
	t.Parallel()
	s := share(t)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if shared, ok := s.admit(gone, t); !shared || !ok {
		t.Error("the shared buckets were not asked")
	}
}

// TestManyCallersOfAStoreThatIsAway checks a hundred concurrent calls while the store
// fails. This process must admit no more than the limit.
func TestManyCallersOfAStoreThatIsAway(t *testing.T) {
	t.Parallel()
	s := share(t)
	s.shared.setFault(errors.New("away"), false)
	var calling sync.WaitGroup
	var mu sync.Mutex
	admitted := 0
	for range 100 {
		calling.Go(func() {
			if _, ok := s.admit(t.Context(), t); ok {
				mu.Lock()
				defer mu.Unlock()
				admitted++
			}
		})
	}
	calling.Wait()
	if admitted != 2 {
		t.Errorf("%d were let in with a limit of 2", admitted)
	}
}
