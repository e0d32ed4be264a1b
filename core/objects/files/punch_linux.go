package files

import (
	"bytes"
	"errors"
	"io"
	"os"
	"syscall"
)

// Of linux/falloc.h and of lseek(2).
const (
	keepSize  = 0x01
	punchHole = 0x02
	seekData  = 3
)

// punch frees the space of n bytes of a file, which then read as zeros.
func punch(file *os.File, at, n int64) error {
	for {
		err := syscall.Fallocate(int(file.Fd()), keepSize|punchHole, at, n)
		if !errors.Is(err, syscall.EINTR) {
			return os.NewSyscallError("fallocate", err)
		}
	}
}

// nextData returns where content begins that is not freed, at an offset or after it. It returns
// false if there is none.
func nextData(file *os.File, from int64) (int64, bool, error) {
	at, err := file.Seek(from, seekData)
	if errors.Is(err, syscall.ENXIO) {
		return 0, false, nil
	}
	return at, err == nil, err
}

// lockFile locks a file until it is closed or its process ends. It returns false if another open
// file has the lock.
func lockFile(file *os.File) (bool, error) {
	err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, os.NewSyscallError("flock", err)
}

// flushContent flushes the content of a file to disk, and of its metadata what finding the content
// needs.
func flushContent(file *os.File) error {
	for {
		err := syscall.Fdatasync(int(file.Fd()))
		if !errors.Is(err, syscall.EINTR) {
			return os.NewSyscallError("fdatasync", err)
		}
	}
}

// canPack reports whether the file system of a folder can free the middle of a file and find what
// is left, and can lock files. Those of Linux can; some that are mounted over a network cannot.
func canPack(folder string) bool {
	file, err := os.CreateTemp(folder, "probe-*")
	if err != nil {
		return false
	}
	defer file.Close() //nolint:errcheck // it has no name
	if os.Remove(file.Name()) != nil {
		return false
	}
	if _, err := file.Write(bytes.Repeat([]byte{1}, 3*blockBytes)); err != nil {
		return false
	}
	if free, err := lockFile(file); err != nil || !free {
		return false
	}
	if punch(file, blockBytes, blockBytes) != nil {
		return false
	}
	freed := make([]byte, blockBytes)
	if _, err := file.ReadAt(freed, blockBytes); err != nil || !bytes.Equal(freed, make([]byte, blockBytes)) {
		return false
	}
	_, more, err := nextData(file, 3*blockBytes)
	if more || err != nil {
		return false
	}
	at, err := file.Seek(0, io.SeekStart)
	return at == 0 && err == nil
}
