package sending

import (
	"context"
	"slices"
	"sync"

	"github.com/mailhelm/mailhelm/core"
)

// KeyedLocks serializes the writers of one record at an account within this process, from
// the read of the account to the commit of the mirror. Without them, two writers of one
// address could leave the consent of one at the account and that of the other in the mirror.
// Other processes are not covered; the periodic sync repairs their differences.
type KeyedLocks struct {
	mu   sync.Mutex
	held map[string]*keyedLock
}

type keyedLock struct {
	free    chan struct{} // holds one value while no writer has the turn
	waiting int
}

// NewKeyedLocks returns KeyedLocks without holders.
func NewKeyedLocks() *KeyedLocks { return &KeyedLocks{held: map[string]*keyedLock{}} }

// AddressLockKey returns the key that the writers of an address lock.
func AddressLockKey(orgID, email string) string { return orgID + "/" + core.EmailKey(email) }

// Lock waits for all keys and returns the function that unlocks them. It fails when ctx
// ends. It locks keys in sorted order, so that two callers cannot wait for each other.
func (l *KeyedLocks) Lock(ctx context.Context, keys ...string) (func(), error) {
	keys = slices.Compact(slices.Sorted(slices.Values(keys)))
	for i, key := range keys {
		if err := l.lockOne(ctx, key); err != nil {
			l.unlock(keys[:i])
			return nil, err
		}
	}
	return func() { l.unlock(keys) }, nil
}

func (l *KeyedLocks) lockOne(ctx context.Context, key string) error {
	l.mu.Lock()
	t, ok := l.held[key]
	if !ok {
		t = &keyedLock{free: make(chan struct{}, 1)}
		t.free <- struct{}{}
		l.held[key] = t
	}
	t.waiting++
	l.mu.Unlock()
	select {
	case <-t.free:
		return nil
	case <-ctx.Done():
		l.forgetUnused(key)
		return ctx.Err()
	}
}

func (l *KeyedLocks) unlock(keys []string) {
	for _, key := range slices.Backward(keys) {
		l.mu.Lock()
		l.held[key].free <- struct{}{}
		l.mu.Unlock()
		l.forgetUnused(key)
	}
}

// forgetUnused removes the key when no caller has locked it or waits for it.
func (l *KeyedLocks) forgetUnused(key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.held[key]
	t.waiting--
	if t.waiting == 0 {
		delete(l.held, key)
	}
}
