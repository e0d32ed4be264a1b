//go:build unix

package datafolder

import (
	"os"
	"syscall"
)

// hasModes reports whether permission bits of files say who may write. This is so on Unix.
const hasModes = true

// lockFile locks an open file until it is closed or the process ends, even by a crash. It
// fails if the file is already locked, by another process or by this one through another
// os.File.
func lockFile(f *os.File) error {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}
