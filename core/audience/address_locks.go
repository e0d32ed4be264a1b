package audience

import (
	"context"
	"slices"
	"sync"
)

// addressLocks makes writes to one contact take turns in this process, from the
// read of the account to the commit of the mirror. Without it, two writers of
// one address could leave the account with the consent of one and the mirror
// with that of the other. Processes beside this one are not covered; the
// periodic sync repairs what they leave behind.
type addressLocks struct {
	mu   sync.Mutex
	held map[string]*turn
}

type turn struct {
	free    chan struct{} // holds one value while nobody has the turn
	waiting int
}

func newAddressLocks() *addressLocks { return &addressLocks{held: map[string]*turn{}} }

// lock waits for all keys and returns the function that lets go of them. Keys are
// taken in one order everywhere, so that two writers cannot wait for each other.
func (l *addressLocks) lock(ctx context.Context, keys ...string) (func(), error) {
	keys = slices.Compact(slices.Sorted(slices.Values(keys)))
	for i, key := range keys {
		if err := l.lockOne(ctx, key); err != nil {
			l.unlock(keys[:i])
			return nil, err
		}
	}
	return func() { l.unlock(keys) }, nil
}

func (l *addressLocks) lockOne(ctx context.Context, key string) error {
	l.mu.Lock()
	t, ok := l.held[key]
	if !ok {
		t = &turn{free: make(chan struct{}, 1)}
		t.free <- struct{}{}
		l.held[key] = t
	}
	t.waiting++
	l.mu.Unlock()
	select {
	case <-t.free:
		return nil
	case <-ctx.Done():
		l.leave(key)
		return ctx.Err()
	}
}

func (l *addressLocks) unlock(keys []string) {
	for _, key := range slices.Backward(keys) {
		l.mu.Lock()
		l.held[key].free <- struct{}{}
		l.mu.Unlock()
		l.leave(key)
	}
}

func (l *addressLocks) leave(key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.held[key]
	t.waiting--
	if t.waiting == 0 {
		delete(l.held, key)
	}
}
