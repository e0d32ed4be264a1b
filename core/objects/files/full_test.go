//go:build unix

package files_test

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/objects"
	"github.com/mailhelm/mailhelm/core/objects/objectstest"
)

// inProcess names the environment variable that says how a child process of the test is
// limited: "size" or "read-only".
const inProcess = "MAILHELM_TEST_LIMITED"

// TestLimitedDisk runs Put in a process whose files may have 64 KiB only, so that a write
// fails in the middle as on a full disk, and in a process that may not write to the folder.
// The limits are of the whole process, so each has its own.
func TestLimitedDisk(t *testing.T) {
	t.Parallel()
	if limit := os.Getenv(inProcess); limit != "" {
		inLimitedProcess(t, limit)
		return
	}
	for _, limit := range []string{"size", "read-only"} {
		t.Run(limit, func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestLimitedDisk$", "-test.count=1")
			cmd.Env = append(os.Environ(), inProcess+"="+limit)
			if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "PASS") {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// inLimitedProcess is the child process of TestLimitedDisk.
func inLimitedProcess(t *testing.T, limit string) {
	t.Helper()
	s := newSetup(t)
	store, key := s.Of(s.org), objects.RawKey(s.org, core.NewID())
	large := strings.Repeat("x", 1<<20)
	undo := func() error { return nil }
	switch limit {
	case "size":
		signal.Ignore(syscall.SIGXFSZ) // its default action would end the process
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 64 << 10, Max: 64 << 10}); err != nil {
			t.Fatal(err)
		}
	case "read-only":
		if err := makeReadOnly(s.folder + "/tmp"); err != nil {
			t.Fatal(err)
		}
		undo = func() error { return os.Chmod(s.folder+"/tmp", 0o700) }
	}
	err := store.Put(t.Context(), key, strings.NewReader(large), int64(len(large)), "")
	if !errors.Is(err, objects.ErrUnavailable) {
		t.Errorf("Put: %v, want ErrUnavailable", err)
	}
	if _, there := objectstest.Content(t, store, key); there {
		t.Error("a part of the object is visible")
	}
	for range 2 { // in one pack, if there are packs
		if _, err := store.Add(t.Context(), key, []byte(large[:100<<10]), ""); !errors.Is(err, objects.ErrUnavailable) {
			t.Errorf("Add: %v, want ErrUnavailable", err)
		}
	}
	if err := undo(); err != nil {
		t.Error(err)
	}
	if got := s.names(t, ""); len(got) > 1 || len(got) == 1 && !strings.Contains(got[0], "/packs/") {
		t.Errorf("files are left: %v", got)
	}
	if keys, _, err := store.List(t.Context(), s.org, time.Now().Add(time.Hour), "", 10); len(keys) > 0 || err != nil {
		t.Errorf("objects are left: %v, %v", keys, err)
	}
	if limit == "size" {
		objectstest.Put(t, store, key, "small")
		if content, _ := objectstest.Content(t, store, objectstest.Add(t, store, key, "small")); content != "small" {
			t.Errorf("after the failures: %q", content)
		}
	}
}

// makeReadOnly takes away the right to write to a folder. The superuser keeps that right, so
// it becomes another user first; the folders of the test then belong to that user.
func makeReadOnly(folder string) error {
	if os.Getuid() == 0 {
		const nobody = 65534
		for path := folder; strings.HasPrefix(path, filepath.Clean(os.TempDir())+"/"); path = filepath.Dir(path) {
			if err := os.Chown(path, nobody, nobody); err != nil {
				return err
			}
		}
		if err := syscall.Setuid(nobody); err != nil {
			return err
		}
	}
	return os.Chmod(folder, 0o500)
}
