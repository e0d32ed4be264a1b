package serve

import (
	"fmt"
	"os"
	"path/filepath"
)

// holdFolder makes the data folder, refuses one that others may write to, since
// they could put a master key of their own into it, and, when the database is in
// it, takes the folder for this process alone: writers of one address, caches and
// rate limits are a process's own, so two on one SQLite file would contradict one
// another. The returned function lets go of it.
func holdFolder(dir string, exclusive bool) (func() error, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("data folder: %w", err)
	}
	info, err := os.Stat(dir)
	if err != nil {
		return nil, fmt.Errorf("data folder: %w", err)
	}
	if mode := info.Mode().Perm(); mode&0o022 != 0 {
		return nil, fmt.Errorf("data folder %s has mode %04o, so others may change what is in it: chmod 700 %s", dir, mode, dir)
	}
	if !exclusive {
		return func() error { return nil }, nil
	}
	lock, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("data folder: %w", err)
	}
	if err := lockFile(lock); err != nil {
		_ = lock.Close() // the other error is the one that matters
		return nil, fmt.Errorf("another mailhelm runs on the data folder %s: stop it, choose another folder with --data, or use PostgreSQL, which several processes may share", dir)
	}
	return lock.Close, nil
}
