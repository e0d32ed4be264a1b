package guardrails

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/prometheus/client_golang/prometheus"
)

// Limits on how long a call waits for the store of shared rate limits, and on how often a
// failing store is used.
const (
	// defaultSharedTimeout is the default of [Config.SharedTimeout], the longest time for
	// which a call waits for the store of shared rate limits.
	defaultSharedTimeout = 50 * time.Millisecond
	// sharedFailures is the number of failures in a row after which the store of shared rate
	// limits is not used for the time sharedPause.
	sharedFailures = 3
	sharedPause    = 5 * time.Second
	// sharedReport is the shortest interval between two log lines about failures of the
	// store of shared rate limits.
	sharedReport = time.Minute
)

// sharedBuckets counts rate limits in a store that all processes share. It also counts
// every call in this process, so that this process never admits more than the limit, even
// if the store loses its data. While the store fails, only the counts of this process
// apply. The limit of all processes together is then too high for a while, which is better
// than failing calls or no limit.
type sharedBuckets struct {
	shared, own Buckets
	timeout     time.Duration
	clock       core.Clock
	log         *slog.Logger
	fallbacks   *prometheus.CounterVec
	refused     refusedCallers

	mu       sync.Mutex
	failures int       // in a row
	askAt    time.Time // the time at which to use the shared store again, after too many failures
	reported time.Time // time of the last log line about a failure of the shared store
	away     bool      // whether the last log line about the shared store reported a failure
}

func newSharedBuckets(cfg Config) Buckets {
	s := &sharedBuckets{
		shared: cfg.SharedBuckets, own: OwnBuckets(cfg.Clock),
		timeout: cmp.Or(cfg.SharedTimeout, defaultSharedTimeout), clock: cfg.Clock, log: cfg.Log,
		fallbacks: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "mailhelm_rate_limit_fallbacks_total",
			Help: "With --redis-url: calls counted in this process alone, because Redis failed, or was skipped after failures.",
		}, []string{"cause"}),
	}
	for _, cause := range []string{"failed", "skipped"} {
		s.fallbacks.WithLabelValues(cause)
	}
	cfg.Metrics.MustRegister(s.fallbacks)
	return s
}

// Take takes tokens from the shared store and from the buckets of this process, or from
// the latter alone while the store fails. It does not ask the store about a caller that it has
// refused until a time. It never returns an error.
func (s *sharedBuckets) Take(ctx context.Context, key BucketKey, limit, cost int) (Rate, bool, error) {
	asked := s.clock()
	if state, known := s.refused.find(key, limit, cost, asked); known {
		return state, false, nil
	}
	if !s.mayAsk() {
		s.fallbacks.WithLabelValues("skipped").Inc()
		return s.own.Take(ctx, key, limit, cost)
	}
	// The request to the store continues if the caller disconnects. Otherwise the
	// disconnection would count as a failure of the store.
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.timeout)
	defer cancel()
	state, admitted, err := s.shared.Take(bounded, key, limit, cost)
	if err != nil {
		s.fallbacks.WithLabelValues("failed").Inc()
		s.noteFailure(ctx, err)
		return s.own.Take(ctx, key, limit, cost)
	}
	s.noteAnswer(ctx)
	if !admitted {
		s.refused.remember(key, limit, cost, refusal{state, asked, s.clock()})
		return state, false, nil
	}
	mine, admitted, err := s.own.Take(ctx, key, limit, cost)
	if !admitted || mine.Remaining < state.Remaining {
		state = mine
	}
	return state, admitted, err
}

// mayAsk reports whether the call may use the shared store. After too many failures, no
// call uses the store for the time sharedPause. After that, one call in each sharedPause
// tries it, until a call succeeds.
func (s *sharedBuckets) mayAsk() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failures < sharedFailures {
		return true
	}
	now := s.clock()
	if now.Before(s.askAt) {
		return false
	}
	s.askAt = now.Add(sharedPause)
	return true
}

func (s *sharedBuckets) noteFailure(ctx context.Context, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.clock()
	if s.failures++; s.failures >= sharedFailures {
		s.askAt = now.Add(sharedPause)
	}
	if s.reported.IsZero() || now.Sub(s.reported) >= sharedReport {
		s.reported, s.away = now, true
		s.log.WarnContext(ctx, "rate limits are counted in this process alone: the shared buckets do not answer", "error", err)
	}
}

func (s *sharedBuckets) noteAnswer(ctx context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failures = 0
	if s.away {
		s.away = false
		s.log.InfoContext(ctx, "rate limits are shared again")
	}
}
