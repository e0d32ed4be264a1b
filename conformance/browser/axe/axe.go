// Package axe has the accessibility checker axe-core for pages in a browser.
package axe

import (
	"embed"
	"os"
	"path/filepath"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/npm"
)

// wanted holds the files from which npm installs the exact version of axe-core.
//
//go:embed package.json package-lock.json .npmrc
var wanted embed.FS

// Script returns the script that defines the object axe in a page. On a machine without npm
// it skips the test, or fails it if the environment variable CI is true.
func Script(t testing.TB) string {
	t.Helper()
	script, err := os.ReadFile(filepath.Join(npm.Packages(t, wanted), npm.Modules, "axe-core", "axe.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	return string(script)
}
