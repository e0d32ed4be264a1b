package attacks_test

import (
	"context"
	"io/fs"
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/config/configtest"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve"
)

// TestDataFolderIsPrivate checks that only the owner has permissions for the data folder
// and its files, while the server runs and after it has stopped. That includes the files
// that SQLite keeps next to a database.
func TestDataFolderIsPrivate(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	h, err := serve.Start(t.Context(), config.Config{
		DataDir: dir, Listen: configtest.AnyPorts(), Build: config.Build{Version: "test", Commit: "unknown"}, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	checkPrivate(t, dir)
	if err := h.Stop(context.WithoutCancel(t.Context())); err != nil {
		t.Error(err)
	}
	checkPrivate(t, dir)
}

func checkPrivate(t *testing.T, dir string) {
	t.Helper()
	seen := 0
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		seen++
		if mode := info.Mode().Perm(); mode&0o077 != 0 {
			t.Errorf("%s has mode %04o", filepath.Base(path), mode)
		}
		return nil
	})
	if err != nil || seen < 4 {
		t.Errorf("%d files were seen: %v", seen, err)
	}
}
