// Package groupcommit commits the items of concurrent callers together, as databases do with
// their logs. The commit of many items takes hardly longer than that of one, so more callers
// cause larger groups and not longer waits.
package groupcommit

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// Config configures a [Group]. All fields are required except Gather.
type Config[T any] struct {
	// Commit makes items durable: all of them, or none if it fails. It gets one item alone after
	// a group with that item failed. Its context has no deadline of a caller, because the group
	// has other callers.
	Commit func(ctx context.Context, items []T) error
	// Max is the largest group.
	Max int
	// Timeout bounds each call of Commit.
	Timeout time.Duration
	// Gather is how long a group that is not full waits for further items. Zero commits at once:
	// then no caller waits longer than necessary, but each of few callers has a commit of its own.
	Gather time.Duration
}

// Group commits items. While one group is committed, the items of further callers form the next
// one. It is safe for concurrent use.
type Group[T any] struct {
	cfg Config[T]

	mu         sync.Mutex
	waiting    []*entry[T]
	committing bool
	// full has a signal when Max items wait.
	full chan struct{}
}

type entry[T any] struct {
	item T
	// answered receives the error of the commit. It has room for it, so that the answer waits
	// for no caller.
	answered chan error
}

// New returns a Group that has no items.
func New[T any](cfg Config[T]) *Group[T] { return &Group[T]{cfg: cfg, full: make(chan struct{}, 1)} }

// Do returns when the item is committed, with the error of its commit. It always waits for the
// commit, also when ctx has ended in the meantime, because a caller must know the outcome.
func (g *Group[T]) Do(ctx context.Context, item T) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	e := &entry[T]{item: item, answered: make(chan error, 1)}
	g.mu.Lock()
	g.waiting = append(g.waiting, e)
	lead := !g.committing
	g.committing = true
	if len(g.waiting) >= g.cfg.Max {
		select {
		case g.full <- struct{}{}:
		default: // there is a signal
		}
	}
	g.mu.Unlock()
	if lead {
		go g.commitAll(context.WithoutCancel(ctx))
	}
	return <-e.answered
}

// commitAll commits groups until no caller waits.
func (g *Group[T]) commitAll(ctx context.Context) {
	for {
		g.gather()
		g.mu.Lock()
		n := min(len(g.waiting), g.cfg.Max)
		if n == 0 {
			g.committing, g.waiting = false, nil
			g.mu.Unlock()
			return
		}
		group := g.waiting[:n:n]
		g.waiting = g.waiting[n:]
		g.mu.Unlock()
		g.commit(ctx, group)
	}
}

// gather waits until the next group may be committed, if there is one.
func (g *Group[T]) gather() {
	g.mu.Lock()
	n := len(g.waiting)
	select {
	case <-g.full: // of the group before
	default:
	}
	g.mu.Unlock()
	if g.cfg.Gather == 0 || n == 0 || n >= g.cfg.Max {
		return
	}
	timer := time.NewTimer(g.cfg.Gather)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-g.full:
	}
}

// commit commits a group. If that fails, it commits each item alone, so that an item that cannot
// be stored does not stop the others.
func (g *Group[T]) commit(ctx context.Context, group []*entry[T]) {
	items := make([]T, len(group))
	for i, e := range group {
		items[i] = e.item
	}
	err := g.try(ctx, items)
	if err == nil || len(group) == 1 {
		for _, e := range group {
			e.answered <- err
		}
		return
	}
	for _, e := range group {
		e.answered <- g.try(ctx, []T{e.item})
	}
}

// try calls Commit. A panic becomes an error, because it is in a goroutine that no caller
// guards.
func (g *Group[T]) try(ctx context.Context, items []T) (err error) {
	ctx, cancel := context.WithTimeout(ctx, g.cfg.Timeout)
	defer cancel()
	defer func() {
		if v := recover(); v != nil {
			err = errors.New(core.PanicText(v))
		}
	}()
	return g.cfg.Commit(ctx, items)
}
