package npm

import (
	_ "embed"
	"os"
	"path/filepath"
	"testing"
)

//go:embed loopback.mjs
var loopback []byte

// Loopback writes a module that makes Node.js refuse connections to other machines, and
// returns the path of the module. Pass that path to Node.js with --import. The file is
// deleted when the test ends.
func Loopback(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "loopback.mjs")
	if err := os.WriteFile(path, loopback, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
