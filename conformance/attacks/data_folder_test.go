package attacks_test

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/config/configtest"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve"
)

func startIn(t *testing.T, dir string) error {
	t.Helper()
	h, err := serve.Start(t.Context(), config.Config{
		DataDir: dir, Listen: configtest.AnyPorts(), Build: config.Build{Version: "test", Commit: "unknown"}, Log: slog.New(slog.DiscardHandler),
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

// TestSecondProcessOnOneFolderIsRefused checks that a server does not start with the data
// folder of another running server. Each server keeps address locks, caches and rate limits
// in its own memory. Two servers on one SQLite file would therefore corrupt data without an
// error.
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

// TestOpenFolderIsRefused checks that a server does not start with a data folder that all
// users may write to. Any of them could replace the master key there.
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

// TestReadableDatabaseIsNotUsedAsItIs starts a server with a database file of mode 0644,
// such as a restored backup. The server must refuse to start, or must change the mode so
// that other users cannot read the file.
func TestReadableDatabaseIsNotUsedAsItIs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "mailhelm.db")
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if startIn(t, dir) != nil {
		return // the server refused to start, which is correct too
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		t.Errorf("the database has mode %04o", mode)
	}
}
