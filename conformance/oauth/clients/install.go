package clients

import (
	"embed"
	"os"
	"path/filepath"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/npm"
)

var (
	// programs holds the Node.js programs of this folder.
	//go:embed *.mjs
	programs embed.FS
	// wanted holds the files from which npm installs exact versions of the dependencies; see
	// [npm.Packages].
	//go:embed package.json package-lock.json .npmrc
	wanted embed.FS
)

// workshop returns a temporary folder with the programs and their npm packages. On a
// machine without npm it skips the test, or fails it if the environment variable CI is
// true.
func workshop(t testing.TB) string {
	t.Helper()
	packages, dir := npm.Packages(t, wanted), t.TempDir()
	if err := os.CopyFS(dir, programs); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(packages, npm.Modules), filepath.Join(dir, npm.Modules)); err != nil {
		t.Fatal(err)
	}
	return dir
}
