package attacks_test

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve"
)

func startIn(t *testing.T, dir string) error {
	t.Helper()
	h, err := serve.Start(t.Context(), config.Config{
		DataDir: dir, Listen: config.AnyPorts(), Build: config.Build{Version: "test", Commit: "unknown"}, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return err
	}
	t.Cleanup(func() {
		if err := h.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return nil
}

// TestSecondProcessOnOneFolderIsRefused checks that a second server on the data folder of a
// running one does not start. Locks of addresses, caches and rate limits are held by the
// process, so two servers on one SQLite file would corrupt data without an error.
func TestSecondProcessOnOneFolderIsRefused(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	if err := startIn(t, dir); err != nil {
		t.Fatal(err)
	}
	if startIn(t, dir) == nil {
		t.Error("two hosts run on one SQLite database")
	}
}

// In a folder with write permission for all users, any user could replace the master key.
func TestOpenFolderIsRefused(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if startIn(t, dir) == nil {
		t.Error("a folder with mode 0777 is used")
	}
}

// A database that was copied back with mode 0644 must not stay readable by all users; the
// master key in the same folder would be refused.
func TestReadableDatabaseIsNotUsedAsItIs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "mailhelm.db")
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if startIn(t, dir) != nil {
		return // refused, which is as good
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		t.Errorf("the database has mode %04o", mode)
	}
}
