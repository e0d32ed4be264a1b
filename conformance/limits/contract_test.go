package limits

import (
	"context"
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/guardrails"
	"github.com/mailhelm/mailhelm/guardrails/redisbuckets"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// store is buckets with the time as they see it.
type store struct {
	guardrails.Buckets
	// pass lets time go by, and now tells it.
	pass func(time.Duration)
	now  core.Clock
}

// each runs a test on every store.
func each(t *testing.T, test func(t *testing.T, s store)) {
	t.Helper()
	t.Run("own", func(t *testing.T) {
		t.Parallel()
		clock := product.NewClock()
		clock.Freeze(clock.Now())
		test(t, store{Buckets: guardrails.OwnBuckets(clock.Now), pass: clock.Advance, now: clock.Now})
	})
	t.Run("redis", func(t *testing.T) {
		t.Parallel()
		wait := func(d time.Duration) { <-time.After(d) }
		test(t, store{Buckets: open(t, storagetest.Redis(t).URL), pass: wait, now: core.SystemClock})
	})
}

func open(t testing.TB, url string) *redisbuckets.Buckets {
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

func someKey() guardrails.BucketKey {
	return guardrails.BucketKey{Resource: access.API, OrgID: core.NewID(), Environment: core.Live}
}

// patience is what a test gives a store that the product would give less: the
// machine may be busy with other tests.
const patience = 20 * time.Second

func (s store) take(t *testing.T, key guardrails.BucketKey, limit, cost int) (guardrails.Rate, bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	rate, admitted, err := s.Take(ctx, key, limit, cost)
	if err != nil {
		t.Fatalf("take: %v", err)
	}
	return rate, admitted
}

// want compares with what a bucket holds that missed so many tokens at an
// instant, and nothing was put back but by time.
func (s store) want(t *testing.T, got guardrails.Rate, limit, missing int, since time.Time) {
	t.Helper()
	passed := s.now().Sub(since)
	put := int(passed.Minutes() * float64(limit))
	remaining, reset := limit-missing, time.Duration(math.Ceil(float64(missing)*60/float64(limit)))*time.Second
	if got.Limit != limit || got.Remaining < remaining || got.Remaining > remaining+put ||
		got.Reset > reset || got.Reset < reset-passed.Truncate(time.Second)-time.Second || passed < time.Second && got.Reset < reset-time.Second {
		t.Errorf("limit %d, %d missing, after %v: %+v", limit, missing, passed, got)
	}
	if passed == 0 && got.Reset != reset {
		t.Errorf("limit %d, %d missing: %+v", limit, missing, got)
	}
}

func TestABucketDrainsAndRefuses(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s store) {
		for _, limit := range []int{1, 2, 6, 7, 20} {
			key, since := someKey(), s.now()
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

// The first call of a bucket sees round figures, whatever the arithmetic inside.
func TestTheFirstCallSeesWholeTokens(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s store) {
		for limit := 1; limit <= 120; limit++ {
			got, admitted := s.take(t, someKey(), limit, 1)
			reset := time.Duration(math.Ceil(60/float64(limit))) * time.Second
			if want := (guardrails.Rate{Limit: limit, Remaining: limit - 1, Reset: reset}); !admitted || got != want {
				t.Errorf("%+v (%t), want %+v", got, admitted, want)
			}
		}
	})
}

func TestACallMayCostMore(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s store) {
		key, since := someKey(), s.now()
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
		if _, admitted := s.take(t, someKey(), 10, 11); admitted {
			t.Error("more than a full bucket was taken")
		}
	})
}

func TestABucketFills(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s store) {
		const limit = 120 // two a second
		key := someKey()
		if _, admitted := s.take(t, key, limit, limit); !admitted {
			t.Fatal("a full bucket")
		}
		s.pass(time.Second)
		if _, admitted := s.take(t, key, limit, 2); !admitted {
			t.Error("a second has put nothing back")
		}
		if _, admitted := s.take(t, key, limit, limit/2); admitted {
			t.Error("a second has put back half a minute's worth")
		}
	})
}

func TestBucketsAreApart(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s store) {
		base := someKey()
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
	each(t, func(t *testing.T, s store) {
		key, since := someKey(), s.now()
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

// admissible checks what a bucket may have let in that was full at an instant.
func (s store) admissible(t *testing.T, limit int, admitted int64, since time.Time) {
	t.Helper()
	put := int64(s.now().Sub(since).Minutes() * float64(limit))
	if admitted < int64(limit) || admitted > int64(limit)+put {
		t.Errorf("%d were let in with a limit of %d, %d were put back meanwhile", admitted, limit, put)
	}
}

func TestAThousandAtOnce(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s store) {
		const limit, takers = 10, 1000
		key, since := someKey(), s.now()
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
		s.admissible(t, limit, admitted.Load(), since)
	})
}
