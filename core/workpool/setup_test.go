package workpool_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/workpool"
)

const retryAfter = 5 * time.Second

var errBroken = errors.New("broken")

// outcome is how Do ends.
type outcome struct {
	rest  time.Time
	err   error
	panic string
}

// queue has items of work. Do runs until the test ends it. A queue belongs to a bubble of
// package synctest, and so does its time.
type queue struct {
	*workpool.Pool[string]
	t     *testing.T
	ticks chan time.Time
	log   lockedBuffer

	mu sync.Mutex
	// items is what Find returns, with findErr.
	items   []string
	findErr error
	// rooms has the argument of each call of Find.
	rooms []int
	// befores is the number of calls of Before, which call onBefore if it is not nil.
	befores  int
	onBefore func() error
	// running has the channel that ends Do, by item.
	running map[string]chan outcome
	ctx     context.Context // of the latest Do
}

// newQueue returns a queue whose pool has a limit.
func newQueue(t *testing.T, limit int, items ...string) *queue {
	q := &queue{t: t, ticks: make(chan time.Time), items: items, running: map[string]chan outcome{}}
	q.Pool = workpool.New(workpool.Config[string]{
		Limit: limit, RetryAfter: retryAfter, Before: q.before, Find: q.find, Do: q.do,
		FindFailed: "find failed", DoFailed: "do failed", Attributes: func(item string) []any { return []any{"item", item} },
		Clock: core.SystemClock, Log: slog.New(slog.NewTextHandler(&q.log, nil)),
	})
	return q
}

func (q *queue) before(context.Context) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.befores++
	if q.onBefore == nil {
		return nil
	}
	return q.onBefore()
}

func (q *queue) find(_ context.Context, room int) ([]string, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.rooms = append(q.rooms, room)
	return slices.Clone(q.items), q.findErr
}

func (q *queue) do(ctx context.Context, item string) (time.Time, error) {
	q.mu.Lock()
	if q.running[item] != nil {
		q.t.Errorf("%s begins twice", item)
	}
	end := make(chan outcome)
	q.running[item], q.ctx = end, ctx
	q.mu.Unlock()
	o := <-end
	if o.panic != "" {
		panic(o.panic)
	}
	return o.rest, o.err
}

// set sets what Find returns from now on.
func (q *queue) set(err error, items ...string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.items, q.findErr = items, err
}

// follow starts Follow. The returned function stops it, with the items that run, and waits
// until it has returned.
func (q *queue) follow() (stop func()) {
	ctx, cancel := context.WithCancel(q.t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		q.Follow(ctx, q.ticks)
	}()
	synctest.Wait()
	return func() {
		cancel()
		synctest.Wait()
		for item := range q.running {
			q.end(item, outcome{err: ctx.Err()})
		}
		<-done
	}
}

// tick lets Follow look and waits until it has looked.
func (q *queue) tick() {
	q.ticks <- time.Time{}
	synctest.Wait()
}

// end ends the Do of an item and waits for the consequences.
func (q *queue) end(item string, o outcome) {
	q.mu.Lock()
	end := q.running[item]
	delete(q.running, item)
	q.mu.Unlock()
	end <- o
	synctest.Wait()
}

// runs checks which items run.
func (q *queue) runs(want ...string) {
	q.t.Helper()
	q.mu.Lock()
	defer q.mu.Unlock()
	got := make([]string, 0, len(q.running))
	for item := range q.running {
		got = append(got, item)
	}
	if slices.Sort(got); !slices.Equal(got, want) {
		q.t.Fatalf("%v run, want %v", got, want)
	}
}

// logs checks the number of lines in the log, and that each contains all of the texts.
func (q *queue) logs(lines int, texts ...string) {
	q.t.Helper()
	got := q.log.String()
	if n := strings.Count(got, "\n"); n != lines {
		q.t.Errorf("%d lines in the log, want %d:\n%s", n, lines, got)
	}
	for line := range strings.Lines(got) {
		for _, text := range texts {
			if !strings.Contains(line, text) {
				q.t.Errorf("the log has no %q: %s", text, line)
			}
		}
	}
}

// lockedBuffer is a buffer for several goroutines.
type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
