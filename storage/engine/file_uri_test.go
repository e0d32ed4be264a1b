package engine_test

import (
	"testing"

	"github.com/mailhelm/mailhelm/storage/engine"
)

// TestFileURI checks the URIs of database files. On Windows a path with a drive must not
// become the name of another machine, which SQLite refuses.
func TestFileURI(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"/var/lib/mailhelm/mailhelm.db": "file:///var/lib/mailhelm/mailhelm.db",
		"/tmp/what? 100%/mailhelm.db":   "file:///tmp/what%3F%20100%25/mailhelm.db",
		"C:/mail helm/mailhelm.db":      "file:///C:/mail%20helm/mailhelm.db",
		"//server/share/mailhelm.db":    "file:////server/share/mailhelm.db",
	} {
		if got := engine.FileURI(path); got != want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
	}
}
