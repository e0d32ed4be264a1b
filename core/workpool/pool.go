package workpool

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"sync"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// Config configures a [Pool]. T identifies an item: equal values are the same item. All
// fields are required, unless their comments define what nil means.
type Config[T comparable] struct {
	// Limit is the maximum number of items that the pool works on at the same time.
	Limit int
	// Batch is the number of items that a look waits for room for, if the pool was full. Set it
	// if Find claims items, so that a busy pool does not claim them one by one. Zero means 1.
	Batch int
	// RetryAfter is how long an item rests after Do failed or panicked.
	RetryAfter time.Duration

	// Before runs at the start of each look, also while the pool is full. If it fails, the
	// look ends with its error. nil means that there is nothing to do before.
	Before func(ctx context.Context) error
	// Find returns items that have work now. It is called only while the pool has room for at
	// least one more item. room is the number of items that the pool can begin.
	//
	// Find may return items that are running or resting in this pool, and more than room: the
	// pool skips them. So a Find that claims nothing should return many items in random order.
	// A Find that claims items must claim at most room, none of which is running or resting.
	// The pool also begins items that Find returns together with an error.
	Find func(ctx context.Context, room int) ([]T, error)
	// Do works on an item until it has no work left, must wait for long, or ctx ends. rest is
	// the time before which the pool does not begin the item again; zero means that the item
	// begins as soon as Find returns it.
	Do func(ctx context.Context, item T) (rest time.Time, err error)

	// FindFailed is the log message of a look that failed, and DoFailed that of an item.
	FindFailed, DoFailed string
	// Attributes returns the attributes of an item in the log: keys and values in turn.
	Attributes func(item T) []any

	Clock core.Clock
	Log   *slog.Logger
}

// Pool works on the items that its Find returns.
type Pool[T comparable] struct {
	cfg   Config[T]
	woken chan struct{}
	group sync.WaitGroup

	mu sync.Mutex
	// running has the items that run. The value is false for those that EndRests lets begin
	// again without a rest.
	running map[T]bool
	// resting has the items that rest, with the times at which they may begin again.
	resting map[T]time.Time
}

// New returns a pool that does nothing yet.
func New[T comparable](cfg Config[T]) *Pool[T] {
	return &Pool[T]{cfg: cfg, woken: make(chan struct{}, 1), running: map[T]bool{}, resting: map[T]time.Time{}}
}

// Wake lets Follow look at once, or again if it is looking. It does not block, and any
// goroutine may call it, also Do.
func (p *Pool[T]) Wake() {
	select {
	case p.woken <- struct{}{}:
	default: // it will look anyway
	}
}

// EndRests ends the rests of items, and looks at once. It also applies to those that run: they
// do not rest after they end, because they may have read the state of before. Call it after a
// change for which the items wait. ends returns true for these items; it must not call the pool.
func (p *Pool[T]) EndRests(ends func(item T) bool) {
	p.mu.Lock()
	maps.DeleteFunc(p.resting, func(item T, _ time.Time) bool { return ends(item) })
	for item := range p.running {
		if ends(item) {
			p.running[item] = false
		}
	}
	p.mu.Unlock()
	p.Wake()
}

// Follow looks for items at once, at each tick, and when it is woken, until ctx ends. It logs
// looks that failed. It returns when the items that it has begun have ended. Database calls of
// the pool are on the lane [core.Background].
func (p *Pool[T]) Follow(ctx context.Context, ticks <-chan time.Time) {
	ctx = core.WithLane(ctx, core.Background)
	defer p.Join()
	for ctx.Err() == nil {
		if err := p.Look(ctx); err != nil && ctx.Err() == nil {
			p.cfg.Log.WarnContext(ctx, p.cfg.FindFailed, "error", err) //nolint:sloglint // each pool has its own constant message
		}
		select {
		case <-ctx.Done():
		case <-ticks:
		case <-p.woken:
		}
	}
}

// Look begins the items that have work and for which there is room, and returns without
// waiting for their ends. It returns the error of Before or Find. Only one goroutine may call
// it at a time. Tests call it in place of Follow.
func (p *Pool[T]) Look(ctx context.Context) error {
	if p.cfg.Before != nil {
		if err := p.cfg.Before(ctx); err != nil {
			return err
		}
	}
	room := p.room()
	if room < p.batch() {
		return nil
	}
	found, err := p.cfg.Find(ctx, room)
	for _, item := range found {
		if p.take(item) {
			p.group.Go(func() { p.release(item, p.do(ctx, item)) })
		}
	}
	return err
}

// Join waits until the items that Look began have ended.
func (p *Pool[T]) Join() { p.group.Wait() }

// room returns the number of items that can begin. It also forgets the items whose rest is
// over, because Find may never return them again.
func (p *Pool[T]) room() int {
	now := p.cfg.Clock()
	p.mu.Lock()
	defer p.mu.Unlock()
	maps.DeleteFunc(p.resting, func(_ T, until time.Time) bool { return !until.After(now) })
	return p.cfg.Limit - len(p.running)
}

// batch returns the least room with which the pool looks for items.
func (p *Pool[T]) batch() int { return max(1, p.cfg.Batch) }

// take marks an item as running. It returns false if the item is running or resting, or if
// the pool is full.
func (p *Pool[T]) take(item T) bool {
	now := p.cfg.Clock()
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, runs := p.running[item]; runs || len(p.running) >= p.cfg.Limit || p.resting[item].After(now) {
		return false
	}
	p.running[item] = true
	return true
}

// release marks an item as ended and lets it rest until a time. If there was too little room
// to look for items and now is enough, it wakes Follow, because items may wait. It also does so
// for an item whose rest EndRests has ended.
func (p *Pool[T]) release(item T, rest time.Time) {
	p.mu.Lock()
	rests := p.running[item]
	delete(p.running, item)
	hasRoom := p.cfg.Limit-len(p.running) == p.batch()
	if !rest.IsZero() && rests {
		p.resting[item] = rest
	}
	p.mu.Unlock()
	if hasRoom || !rests {
		p.Wake()
	}
}

// do works on an item and returns the time until which it rests. It logs a failure, unless
// the failure is the end of ctx, and always a panic.
func (p *Pool[T]) do(ctx context.Context, item T) (rest time.Time) {
	rest, panicked, err := p.try(ctx, item)
	if err == nil || ctx.Err() != nil && !panicked {
		return rest
	}
	p.cfg.Log.ErrorContext(ctx, p.cfg.DoFailed, append(p.cfg.Attributes(item), "error", err)...) //nolint:sloglint // each pool has its own constant message
	return p.cfg.Clock().Add(p.cfg.RetryAfter)
}

// try calls Do. A panic becomes an error.
func (p *Pool[T]) try(ctx context.Context, item T) (rest time.Time, panicked bool, err error) {
	defer func() {
		if v := recover(); v != nil {
			panicked, err = true, errors.New(core.PanicText(v))
		}
	}()
	rest, err = p.cfg.Do(ctx, item)
	return rest, false, err
}
