package server

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/guardrails"
	"github.com/mailhelm/mailhelm/guardrails/redisbuckets"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

// bucketStore is an implementation of the product's rate-limit buckets, and the clock
// that it uses.
type bucketStore struct {
	guardrails.Buckets
	// pass moves the clock of the buckets forward, and the function in the field now reads
	// that clock. pass is nil for a real Redis, whose clock cannot be moved.
	pass func(time.Duration)
	now  core.Clock
}

// eachBucketStore runs a test on every implementation of rate-limit buckets: in memory,
// in miniredis (a Redis written in Go) and in a real Redis.
func eachBucketStore(t *testing.T, test func(t *testing.T, s bucketStore)) {
	t.Helper()
	eachMovable(t, test)
	t.Run("redis", func(t *testing.T) {
		t.Parallel()
		test(t, bucketStore{Buckets: openBuckets(t, enginetest.Redis(t).URL), now: core.SystemClock})
	})
}

// eachMovable runs a test on those implementations of rate-limit buckets whose clock a
// test can move: the buckets in memory, and the buckets in miniredis (a Redis written in
// Go).
func eachMovable(t *testing.T, test func(t *testing.T, s bucketStore)) {
	t.Helper()
	t.Run("own", func(t *testing.T) {
		t.Parallel()
		clock := product.NewClock()
		clock.Freeze(clock.Now())
		test(t, bucketStore{Buckets: guardrails.OwnBuckets(clock.Now), pass: clock.Advance, now: clock.Now})
	})
	t.Run("script", func(t *testing.T) {
		t.Parallel()
		test(t, onMiniredis(t))
	})
}

// onMiniredis returns rate-limit buckets in miniredis, a Redis written in Go whose clock
// the test sets.
func onMiniredis(t testing.TB) bucketStore {
	t.Helper()
	server := miniredis.RunT(t)
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	server.SetTime(now)
	return bucketStore{
		Buckets: openBuckets(t, "redis://"+server.Addr()), now: func() time.Time { return now },
		pass: func(d time.Duration) {
			now = now.Add(d)
			server.SetTime(now)
			server.FastForward(max(0, d)) // removes expired keys
		},
	}
}

// openBuckets returns rate-limit buckets in the Redis at a URL.
func openBuckets(t testing.TB, url string) *redisbuckets.Buckets {
	t.Helper()
	b, err := redisbuckets.Open(redisbuckets.Config{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

func someBucketKey() guardrails.BucketKey {
	return guardrails.BucketKey{Resource: access.API, OrgID: core.NewID(), Environment: core.Live}
}

// patience is the time limit for one call of a bucket. It is longer than in the product,
// because other tests may use most of the processor time.
const patience = 20 * time.Second

func (s bucketStore) take(t *testing.T, key guardrails.BucketKey, limit, cost int) (guardrails.Rate, bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	rate, admitted, err := s.Take(ctx, key, limit, cost)
	if err != nil {
		t.Fatalf("take: %v", err)
	}
	return rate, admitted
}

// want checks the state of a bucket, as a call returned it. The bucket was full at the time
// since, less than a minute ago, and calls took some tokens after that.
func (s bucketStore) want(t *testing.T, got guardrails.Rate, limit, taken int, since time.Time) {
	t.Helper()
	passed := s.now().Sub(since)
	if got.Limit != limit || got.Remaining != limit-taken || got.Reset > time.Minute || got.Reset < time.Minute-passed.Truncate(time.Second)-time.Second ||
		passed == 0 && got.Reset != time.Minute {
		t.Errorf("limit %d, %d taken, after %v: %+v", limit, taken, passed, got)
	}
}

func TestABucketDrainsAndRefuses(t *testing.T) {
	t.Parallel()
	eachBucketStore(t, func(t *testing.T, s bucketStore) {
		for _, limit := range []int{1, 2, 6, 7, 20} {
			key, since := someBucketKey(), s.now()
			for i := range limit {
				got, admitted := s.take(t, key, limit, 1)
				if !admitted {
					t.Fatalf("limit %d: call %d was refused", limit, i+1)
				}
				s.want(t, got, limit, i+1, since)
			}
			got, admitted := s.take(t, key, limit, 1)
			if admitted {
				t.Errorf("limit %d: one more was let in", limit)
			}
			s.want(t, got, limit, limit, since)
		}
	})
}

// TestTheFirstCallSeesWholeTokens checks the numbers that the first call of a new bucket
// returns: the limit, the remaining calls and the reset. They must have no rounding error
// for any limit up to 150.
func TestTheFirstCallSeesWholeTokens(t *testing.T) {
	t.Parallel()
	eachBucketStore(t, func(t *testing.T, s bucketStore) {
		for limit := 1; limit <= 150; limit++ {
			got, admitted := s.take(t, someBucketKey(), limit, 1)
			if !admitted || got.Limit != limit || got.Remaining != limit-1 || got.Reset != time.Minute || got.RetryAfter != 0 {
				t.Errorf("%+v (%t) of a limit of %d", got, admitted, limit)
			}
		}
	})
}

func TestACallMayCostMore(t *testing.T) {
	t.Parallel()
	eachBucketStore(t, func(t *testing.T, s bucketStore) {
		key, since := someBucketKey(), s.now()
		for _, step := range []struct {
			cost, missing int
			admitted      bool
		}{{4, 4, true}, {4, 8, true}, {4, 8, false}, {2, 10, true}, {1, 10, false}, {11, 10, false}} {
			got, admitted := s.take(t, key, 10, step.cost)
			if admitted != step.admitted {
				t.Fatalf("cost %d: admitted %t", step.cost, admitted)
			}
			s.want(t, got, 10, step.missing, since)
		}
		if _, admitted := s.take(t, someBucketKey(), 10, 11); admitted {
			t.Error("more than a full bucket was taken")
		}
	})
}

func TestBucketsAreApart(t *testing.T) {
	t.Parallel()
	eachBucketStore(t, func(t *testing.T, s bucketStore) {
		base := someBucketKey()
		others := []guardrails.BucketKey{base, base, base, base, base}
		others[1].Resource = access.Agent
		others[2].OrgID = core.NewID()
		others[3].Environment = core.Test
		others[4].CredentialID = "oc_live_abcdefgh"
		for i, key := range others {
			if _, admitted := s.take(t, key, 1, 1); !admitted {
				t.Errorf("%d: %+v was paid for by another", i, key)
			}
		}
		if _, admitted := s.take(t, base, 1, 1); admitted {
			t.Error("the bucket of one call holds two")
		}
	})
}

func TestAChangedLimitStartsAfresh(t *testing.T) {
	t.Parallel()
	eachBucketStore(t, func(t *testing.T, s bucketStore) {
		key, since := someBucketKey(), s.now()
		s.take(t, key, 2, 2)
		if _, admitted := s.take(t, key, 2, 1); admitted {
			t.Fatal("two of two were taken")
		}
		got, admitted := s.take(t, key, 3, 1)
		if !admitted {
			t.Error("the new limit")
		}
		s.want(t, got, 3, 1, since)
	})
}

func TestAThousandAtOnce(t *testing.T) {
	t.Parallel()
	eachBucketStore(t, func(t *testing.T, s bucketStore) {
		for _, limit := range []int{10, 700} {
			const takers = 1000
			key := someBucketKey()
			var admitted atomic.Int64
			var taking sync.WaitGroup
			for range takers {
				taking.Go(func() {
					_, ok, err := s.Take(context.WithoutCancel(t.Context()), key, limit, 1)
					if err != nil {
						t.Error(err)
					}
					if ok {
						admitted.Add(1)
					}
				})
			}
			taking.Wait()
			if n := admitted.Load(); n != int64(limit) {
				t.Errorf("%d were let in with a limit of %d", n, limit)
			}
		}
	})
}
