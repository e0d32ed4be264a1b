package storagetest

import (
	"os"
	"sync"
	"syscall"
	"testing"
)

// memoryFolder is the folder that Linux keeps in memory.
const memoryFolder = "/dev/shm"

// memoryWanted is the number of free bytes that memoryFolder must have. The temporary
// PostgreSQL server with the databases of a run needs about half of it.
const memoryWanted = 4 << 30

// Folder returns a new folder for databases, which is removed when the test ends. It is in
// memory if the machine has room there (core/doc/decisions/0074). For a benchmark it is on
// disk, because that measures writing.
func Folder(tb testing.TB) string {
	tb.Helper()
	if _, measures := tb.(*testing.B); measures {
		return tb.TempDir()
	}
	dir, err := os.MkdirTemp(temporary(), "mailhelm-test-")
	if err != nil {
		tb.Fatalf("storagetest: %v", err)
	}
	tb.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			tb.Errorf("storagetest: remove folder: %v", err)
		}
	})
	return dir
}

// temporary returns the parent of temporary folders. It is the machine's folder in memory,
// unless that lacks room or TMPDIR names another.
var temporary = sync.OnceValue(func() string {
	if os.Getenv("TMPDIR") == "" && freeBytes(memoryFolder) >= memoryWanted {
		return memoryFolder
	}
	return os.TempDir()
})

// freeBytes returns the free space of the file system of a folder, 0 if there is no such
// folder.
func freeBytes(folder string) uint64 {
	var stat syscall.Statfs_t
	if err := syscall.Statfs(folder, &stat); err != nil {
		return 0
	}
	return stat.Bavail * uint64(stat.Bsize)
}
