package enginetest

import (
	"os"
	"path/filepath"
	"testing"
)

// TestMigratedDatabasesAreShared checks that the migrated database is kept for other
// processes while the shared server runs, and that a process takes the one that is kept.
func TestMigratedDatabasesAreShared(t *testing.T) {
	t.Parallel()
	available(t)
	shared, err := sharedSQLite()
	if err != nil {
		t.Fatal(err)
	}
	if shared == "" {
		t.Logf("%s names another server", urlVariable)
		return
	}
	if err := os.WriteFile(shared+"-test", []byte("of another process"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Remove(shared + "-test") })
	for file, want := range map[string]string{shared + "-test": "of another process", shared: "SQLite format 3\x00"} {
		dir := t.TempDir()
		if err := fillSQLite(dir, file); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{filepath.Join(dir, sqliteFile), file} {
			if content, err := os.ReadFile(path); err != nil || string(content[:min(len(content), len(want))]) != want {
				t.Errorf("%s does not begin with %q: %v", path, want, err)
			}
		}
	}
}
