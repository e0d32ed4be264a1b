package npm

import (
	_ "embed"
	"os"
	"path/filepath"
	"testing"
)

//go:embed loopback.mjs
var loopback []byte

// Loopback returns the path of a module for Node.js to --import before a program. It
// refuses every connection that would leave the machine. The file is deleted with the
// test.
func Loopback(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "loopback.mjs")
	if err := os.WriteFile(path, loopback, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
