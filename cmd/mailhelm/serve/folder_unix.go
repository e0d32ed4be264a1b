//go:build unix

package serve

import (
	"os"
	"syscall"
)

// lockFile locks an open file until it is closed or the process ends, however
// it ends. It fails when another open file has the lock.
func lockFile(f *os.File) error {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}
