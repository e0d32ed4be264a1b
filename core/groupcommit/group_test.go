package groupcommit_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mailhelm/mailhelm/core/groupcommit"
)

// log notes the groups that are committed, each after a second.
type log struct {
	mu     sync.Mutex
	groups [][]int
	fails  func(items []int) error
}

func (l *log) commit(ctx context.Context, items []int) error {
	select {
	case <-time.After(time.Second):
	case <-ctx.Done():
		return ctx.Err()
	}
	if l.fails != nil {
		if err := l.fails(items); err != nil {
			return err
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.groups = append(l.groups, slices.Sorted(slices.Values(items)))
	return nil
}

func (l *log) group(maximum int, timeout time.Duration) *groupcommit.Group[int] {
	return groupcommit.New(groupcommit.Config[int]{Commit: l.commit, Max: maximum, Timeout: timeout})
}

// all commits items that come at the same time, and returns their errors.
func all(ctx context.Context, g *groupcommit.Group[int], items ...int) map[int]error {
	var mu sync.Mutex
	errs := map[int]error{}
	var callers sync.WaitGroup
	for _, item := range items {
		callers.Go(func() {
			err := g.Do(ctx, item)
			mu.Lock()
			defer mu.Unlock()
			errs[item] = err
		})
	}
	callers.Wait()
	return errs
}

func TestItemsOfOneCommitFormTheNextGroup(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var l log
		g := l.group(3, time.Minute)
		first := make(chan error)
		go func() { first <- g.Do(t.Context(), 0) }()
		synctest.Wait() // the first commit runs
		began := time.Now()
		for item, err := range all(t.Context(), g, 1, 2, 3, 4, 5) {
			if err != nil {
				t.Errorf("item %d: %v", item, err)
			}
		}
		if err := <-first; err != nil {
			t.Error(err)
		}
		sizes := make([]int, len(l.groups))
		for i, items := range l.groups {
			sizes[i] = len(items)
		}
		if !slices.Equal(sizes, []int{1, 3, 2}) || time.Since(began) != 3*time.Second {
			t.Errorf("groups %v in %v", l.groups, time.Since(began))
		}
	})
}

func TestOneItemFailsAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		bad := errors.New("bad item")
		l := log{fails: func(items []int) error {
			if slices.Contains(items, 2) {
				return bad
			}
			return nil
		}}
		g := l.group(10, time.Minute)
		go func() { _ = g.Do(t.Context(), 0) }()
		synctest.Wait()
		errs := all(t.Context(), g, 1, 2, 3)
		if errs[1] != nil || errs[3] != nil || !errors.Is(errs[2], bad) {
			t.Errorf("errors %v", errs)
		}
	})
}

func TestCommitThatDoesNotEndOrPanics(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var slow log
		if err := slow.group(1, time.Millisecond).Do(t.Context(), 1); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a commit over its time: %v", err)
		}
		panics := log{fails: func([]int) error { panic("no disk") }}
		g := panics.group(1, time.Minute)
		if err := g.Do(t.Context(), 1); err == nil || !strings.Contains(err.Error(), "value of type string") {
			t.Errorf("a commit that panicked: %v", err)
		}
		panics.fails = nil
		if err := g.Do(t.Context(), 2); err != nil {
			t.Errorf("the commit after a panic: %v", err)
		}
	})
}

func TestCallerWhoseContextEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var l log
		g := l.group(1, time.Minute)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- g.Do(ctx, 1) }()
		synctest.Wait()
		cancel()
		if err := <-done; err != nil || len(l.groups) != 1 {
			t.Errorf("an item that is being committed: %v, groups %v", err, l.groups)
		}
		if err := g.Do(ctx, 2); !errors.Is(err, context.Canceled) || len(l.groups) != 1 {
			t.Errorf("an item after the end: %v, groups %v", err, l.groups)
		}
	})
}

// TestGather checks that a group waits for further items, and that a full one does not.
func TestGather(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := &log{}
		g := groupcommit.New(groupcommit.Config[int]{Commit: l.commit, Max: 4, Timeout: time.Minute, Gather: 10 * time.Second})
		began := time.Now()
		var callers sync.WaitGroup
		come := func(items ...int) {
			for _, item := range items {
				callers.Go(func() {
					if err := g.Do(t.Context(), item); err != nil {
						t.Error(err)
					}
				})
			}
			synctest.Wait()
		}
		come(1)
		<-time.After(9 * time.Second)
		come(2)
		<-time.After(3 * time.Second) // both were committed after 11 seconds
		come(3, 4, 5, 6, 7)
		callers.Wait()
		if took := time.Since(began); took != 24*time.Second { // the last one waits alone
			t.Errorf("%v", took)
		}
		if len(l.groups) != 3 || !slices.Equal(l.groups[0], []int{1, 2}) || len(l.groups[1]) != 4 {
			t.Errorf("%v", l.groups)
		}
	})
}
