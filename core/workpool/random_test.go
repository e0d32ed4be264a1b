package workpool_test

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/workpool"
)

// backlog has items with pieces of work. Do takes a random time for one piece, and then fails,
// panics, or asks for a rest at random.
type backlog struct {
	t      *testing.T
	limit  int
	random *rand.Rand

	mu      sync.Mutex
	pieces  map[int]int
	running map[int]bool
	// begins has the time before which an item must not begin.
	begins map[int]time.Time
}

// find returns all items that have work, in random order.
func (b *backlog) find(context.Context, int) ([]int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var found []int
	for _, item := range b.random.Perm(len(b.pieces)) {
		if b.pieces[item] > 0 {
			found = append(found, item)
		}
	}
	return found, nil
}

func (b *backlog) do(_ context.Context, item int) (rest time.Time, err error) {
	b.mu.Lock()
	now := core.SystemClock()
	if b.running[item] || len(b.running) >= b.limit || now.Before(b.begins[item]) {
		b.t.Errorf("item %d begins at %v, while %v run", item, now, b.running)
	}
	b.running[item] = true
	takes, ends, rests := b.random.Int64N(4e9), b.random.IntN(4), b.random.Int64N(4e9)
	b.mu.Unlock()
	<-time.After(time.Duration(takes))
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.running, item)
	b.pieces[item]--
	now = core.SystemClock()
	b.begins[item] = now.Add(retryAfter)
	switch ends {
	case 0:
		return time.Time{}, errBroken
	case 1:
		panic(item)
	case 2:
		b.begins[item] = now.Add(time.Duration(rests))
		return b.begins[item], nil
	}
	delete(b.begins, item)
	return time.Time{}, nil
}

// check checks, after a look, that the pool is full or all items run that may.
func (b *backlog) check() (left int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for item, pieces := range b.pieces {
		left += pieces
		if pieces > 0 && !b.running[item] && !b.begins[item].After(core.SystemClock()) && len(b.running) < b.limit {
			b.t.Errorf("item %d does not run, only %v", item, b.running)
		}
	}
	return left
}

// TestRandomWork works through random items with random failures.
func TestRandomWork(t *testing.T) {
	t.Parallel()
	for seed := range uint64(50) {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 0))
			b := &backlog{t: t, limit: 1 + random.IntN(5), random: random, pieces: map[int]int{}, running: map[int]bool{}, begins: map[int]time.Time{}}
			for item := range 1 + random.IntN(12) {
				b.pieces[item] = random.IntN(8)
			}
			pool := workpool.New(workpool.Config[int]{
				Limit: b.limit, RetryAfter: retryAfter, Find: b.find, Do: b.do, Attributes: func(item int) []any { return []any{"item", item} },
				Clock: core.SystemClock, Log: slog.New(slog.DiscardHandler),
			})
			ctx, stop := context.WithCancel(t.Context())
			ticks := make(chan time.Time)
			var following sync.WaitGroup
			following.Go(func() { pool.Follow(ctx, ticks) })
			for synctest.Wait(); b.check() > 0 && !t.Failed(); synctest.Wait() {
				<-time.After(time.Second)
				ticks <- time.Time{}
			}
			stop()
			following.Wait()
		})
	}
}
