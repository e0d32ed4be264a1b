package datafolder

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/gofrs/flock"
)

// hasModes is true if the permission bits of a file decide who may write to it. On Windows,
// access lists decide, and Hold does not check them.
const hasModes = runtime.GOOS != "windows"

// Hold creates the data folder dir if it is missing. It fails if other users may write to
// the folder, because they could replace the master key; on Windows it does not check that.
// If exclusive is true, it locks the folder until the returned function is called or the
// process ends, even by a crash.
//
// A server on SQLite needs the lock, because it orders writes, caches data and counts rate
// limits in its own memory. With two servers on one SQLite file, caches would be outdated
// and callers could exceed the limits. The lock is on a file named lock. After the release
// the file remains in the folder and has no effect.
func Hold(dir string, exclusive bool) (func() error, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("data folder: %w", err)
	}
	info, err := os.Stat(dir)
	if err != nil {
		return nil, fmt.Errorf("data folder: %w", err)
	}
	if mode := info.Mode().Perm(); hasModes && mode&0o022 != 0 {
		return nil, fmt.Errorf("data folder %s has mode %04o, so others may change what is in it: chmod 700 %s", dir, mode, dir)
	}
	if !exclusive {
		return func() error { return nil }, nil
	}
	lock := flock.New(filepath.Join(dir, "lock"), flock.SetPermissions(0o600))
	held, err := lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("data folder: %w", err)
	}
	if !held {
		return nil, fmt.Errorf("another mailhelm runs on the data folder %s: stop it, choose another folder with --data, or use PostgreSQL, which several processes may share", dir)
	}
	return lock.Close, nil
}
