package workpool_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/workpool"
)

// database stores results unless it is away.
type database struct {
	fails func() error
	calls int
	got   []string
}

func (d *database) store(ctx context.Context, result string) error {
	if d.calls++; ctx.Err() != nil {
		return ctx.Err()
	}
	if d.fails != nil {
		if err := d.fails(); err != nil {
			return err
		}
	}
	d.got = append(d.got, result)
	return nil
}

func away() error { return core.TemporarilyUnavailable(errors.New("connection refused")) }

// want checks which results were stored, and how many calls that took, since the last check.
func (d *database) want(t *testing.T, calls int, results ...string) {
	t.Helper()
	if !slices.Equal(d.got, results) || d.calls != calls {
		t.Errorf("stored %q by %d calls, want %q by %d", d.got, d.calls, results, calls)
	}
	d.got, d.calls = nil, 0
}

func lease() time.Time { return time.Now().Add(time.Minute) }

// TestResultsAreKeptInOutages stores results while the database is away, refuses the call or does
// not answer in time. They must be stored at the first look after it answers, and no others.
func TestResultsAreKeptInOutages(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := &database{}
		r := workpool.NewResults(core.SystemClock, d.store)
		for result, err := range map[string]error{
			"a": away(), "b": core.Overloaded(time.Second), "c": fmt.Errorf("storage: %w", context.DeadlineExceeded), "refused": errBroken, "d": nil,
		} {
			d.fails = func() error { return err }
			if got := r.Store(t.Context(), result, lease()); !errors.Is(got, err) {
				t.Errorf("%s: %v, want %v", result, got, err)
			}
		}
		d.want(t, 5, "d")
		d.fails = away
		if err := r.Retry(t.Context()); err != nil {
			t.Error(err)
		}
		d.want(t, 1) // one call finds out that the database is away
		d.fails = nil
		_ = r.Retry(t.Context())
		slices.Sort(d.got)
		d.want(t, 3, "a", "b", "c")
		_ = r.Retry(t.Context())
		d.want(t, 0)
	})
}

// TestResultsEndWithTheLease keeps a result until the lease has ended, and one that is refused when
// it is stored again.
func TestResultsEndWithTheLease(t *testing.T) {
	t.Parallel()
	now := time.Now()
	d := &database{fails: away}
	r := workpool.NewResults(func() time.Time { return now }, d.store)
	_ = r.Store(t.Context(), "late", now.Add(time.Minute))
	_ = r.Store(t.Context(), "in time", now.Add(2*time.Minute))
	_ = r.Store(t.Context(), "refused", now.Add(2*time.Minute))
	now = now.Add(time.Minute)
	d.calls, d.fails = 0, func() error {
		if d.calls == 2 {
			return errBroken
		}
		return nil
	}
	_ = r.Retry(t.Context())
	d.want(t, 2, "in time")
	_ = r.Retry(t.Context())
	d.want(t, 0)
}

// TestResultsAreStoredAtTheEnd ends a process in an outage. Its results must be stored if the
// database answers within five seconds, and the end must not wait for longer.
func TestResultsAreStoredAtTheEnd(t *testing.T) {
	t.Parallel()
	for outage, want := range map[time.Duration][]string{0: {"a"}, 4 * time.Second: {"a"}, 6 * time.Second: nil} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			d := &database{fails: away}
			r := workpool.NewResults(core.SystemClock, d.store)
			ended, cancel := context.WithCancel(t.Context())
			cancel()
			_ = r.Store(ended, "a", lease())
			d.fails = func() error {
				if time.Since(began) < outage {
					return away()
				}
				return nil
			}
			r.End(ended)
			took := time.Since(began)
			if !slices.Equal(d.got, want) || took != min(outage, 5*time.Second) {
				t.Errorf("an outage of %s: stored %q after %s", outage, d.got, took)
			}
		})
	}
}
