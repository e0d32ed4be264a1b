package sqlitefile_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/mailhelm/mailhelm/core/sqlitefile"
)

// TestURI checks that a path with a drive does not become the name of another machine,
// which SQLite on Windows refuses.
func TestURI(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"/var/lib/mailhelm/mailhelm.db": "file:///var/lib/mailhelm/mailhelm.db",
		"/tmp/what? 100%/mailhelm.db":   "file:///tmp/what%3F%20100%25/mailhelm.db",
		"C:/mail helm/mailhelm.db":      "file:///C:/mail%20helm/mailhelm.db",
		"//server/share/mailhelm.db":    "file:////server/share/mailhelm.db",
	} {
		if got := sqlitefile.URI(path).String(); got != want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
	}
}

// TestCreate checks the mode of a new file, and that an existing file keeps its content and
// loses the permissions of other users.
func TestCreate(t *testing.T) {
	t.Parallel()
	added, old := filepath.Join(t.TempDir(), "new.db"), filepath.Join(t.TempDir(), "old.db")
	if err := os.WriteFile(old, []byte("content"), 0o644); err != nil {
		t.Fatal(err)
	}
	for path, content := range map[string]string{added: "", old: "content"} {
		if err := sqlitefile.Create(path); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if mode := info.Mode().Perm(); mode != 0o600 {
			t.Errorf("%s: mode %o, want 600", filepath.Base(path), mode)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != content {
			t.Errorf("%s: content %q, want %q (%v)", filepath.Base(path), got, content, err)
		}
	}
}
