package enginetest

import (
	"os"
	"sync"
	"syscall"
	"testing"
)

// memoryFolder is a folder that Linux keeps in memory instead of on disk.
const memoryFolder = "/dev/shm"

// memoryWanted is the number of free bytes that memoryFolder must have to be used. The
// temporary PostgreSQL server needs about half of it for the databases of a test run.
const memoryWanted = 4 << 30

// Folder returns a new folder for databases, which is removed when the test ends. It is in
// memory if the machine has enough free space there (core/doc/decisions/0074). For a
// benchmark it is on disk, so that writing to disk is measured.
func Folder(tb testing.TB) string {
	tb.Helper()
	if _, measures := tb.(*testing.B); measures {
		return tb.TempDir()
	}
	dir, err := os.MkdirTemp(temporary(), "mailhelm-test-")
	if err != nil {
		tb.Fatalf("enginetest: %v", err)
	}
	tb.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			tb.Errorf("enginetest: remove folder: %v", err)
		}
	})
	return dir
}

// temporary returns the folder in which temporary folders are created. It is memoryFolder,
// unless that has too little space or the environment variable TMPDIR is set.
var temporary = sync.OnceValue(func() string {
	if os.Getenv("TMPDIR") == "" && freeBytes(memoryFolder) >= memoryWanted {
		return memoryFolder
	}
	return os.TempDir()
})

// freeBytes returns the free space, in bytes, of the file system with the folder. It
// returns 0 if the folder does not exist.
func freeBytes(folder string) uint64 {
	var stat syscall.Statfs_t
	if err := syscall.Statfs(folder, &stat); err != nil {
		return 0
	}
	return stat.Bavail * uint64(stat.Bsize)
}
