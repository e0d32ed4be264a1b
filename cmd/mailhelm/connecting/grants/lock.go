package grants

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// lockPoll is the time between two attempts to get a lock that another process holds.
const lockPoll = 50 * time.Millisecond

// Lock waits until no other process refreshes or changes the grant for the address, or until
// ctx ends. The returned function releases the lock; the end of the process releases it too.
//
// The lock is needed because a refresh token can be used once: if two processes used the
// same one, the server would end the grant.
func Lock(ctx context.Context, folder, address string) (func(), error) {
	if err := makeFolder(folder); err != nil {
		return nil, err
	}
	path := filepath.Join(folder, baseName(address)+".lock")
	lock := flock.New(path, flock.SetPermissions(0o600))
	if _, err := lock.TryLockContext(ctx, lockPoll); err != nil {
		return nil, fmt.Errorf("another mailhelm holds %s: %w", path, err)
	}
	return func() { _ = lock.Close() }, nil // nothing can be done about a failure
}
