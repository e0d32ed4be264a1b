//go:build unix

package datafolder

import (
	"os"
	"syscall"
)

// lockFile locks an open file until it is closed or the process ends, even by a crash. It
// fails if another process, or another open of the file, holds the lock.
func lockFile(f *os.File) error {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}
