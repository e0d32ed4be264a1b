package attacks_test

import (
	"context"
	"io/fs"
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve"
)

// Everything in the data folder is its owner's alone, the databases' side files
// included, while the product runs and after it.
func TestDataFolderIsPrivate(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	h, err := serve.Start(t.Context(), config.Config{
		DataDir: dir, Listen: config.AnyPorts(), Build: config.Build{Version: "test", Commit: "unknown"}, Log: slog.New(slog.DiscardHandler),
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
