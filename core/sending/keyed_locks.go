package sending

import (
	"context"
	"slices"
	"sync"

	"github.com/mailhelm/mailhelm/core"
)

// KeyedLocks lets only one writer at a time, in this process, change the same record of a
// sending account. A writer first reads the account, then changes it, and then stores the
// result in Mailhelm's database; it holds the lock during all of this. Without the lock,
// two writers could leave the consent of one at the account and the consent of the other in
// the database. The job that periodically compares the database with the account repairs
// differences that other processes cause.
type KeyedLocks struct {
	mu   sync.Mutex
	held map[string]*keyedLock
}

type keyedLock struct {
	free    chan struct{} // contains one value while the key is unlocked
	waiting int
}

// NewKeyedLocks returns KeyedLocks without holders.
func NewKeyedLocks() *KeyedLocks { return &KeyedLocks{held: map[string]*keyedLock{}} }

// AddressLockKey returns the key to lock before a change of the contact with this email
// address.
func AddressLockKey(orgID, email string) string { return orgID + "/" + core.EmailKey(email) }

// Lock waits until it has locked all keys, and returns the function that unlocks them. It
// fails with the error of ctx if ctx ends first. It locks the keys in sorted order, so that
// two callers cannot deadlock.
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

// forgetUnused ends one caller's use of the key, and removes the key if no other caller
// holds its lock or waits for it.
func (l *KeyedLocks) forgetUnused(key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.held[key]
	t.waiting--
	if t.waiting == 0 {
		delete(l.held, key)
	}
}
