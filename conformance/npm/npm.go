// Package npm installs npm packages for tests. It installs exactly the versions in a
// package-lock.json, and keeps them in the user's cache folder for later runs.
package npm

import (
	"bytes"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

// installTimeout is the time limit of the command "npm ci", which downloads the packages.
const installTimeout = 5 * time.Minute

// Modules is the name of the folder with the packages, inside the folder that [Packages]
// returns.
const Modules = "node_modules"

// errNoNPM means that packages must be installed and the program npm is missing. [Packages]
// then skips the test; any other error fails it.
var errNoNPM = errors.New("npm is not on this machine: the programs of other projects cannot be installed")

// Packages returns a folder with the npm packages that wanted requires; wanted contains
// package.json, package-lock.json and .npmrc. If the packages are not installed yet and npm
// is missing, it skips the test, or fails it if CI is true. It also skips the test if
// MAILHELM_TEST_SERVICES is none. Tests share the folder, so they must not write to it.
func Packages(t testing.TB, wanted fs.FS) string {
	t.Helper()
	if !enginetest.Services() {
		enginetest.SkipMissing(t, errNoNPM.Error())
	}
	dir, err := ensureInstalled(wanted)
	if errors.Is(err, errNoNPM) {
		enginetest.SkipMissing(t, err.Error())
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// installing is locked during an installation, so that concurrent tests do not install the
// same packages twice.
var installing sync.Mutex

// ensureInstalled returns a folder with the npm packages that the files in wanted require.
// The folder is in the user's cache folder. If it does not exist, ensureInstalled installs
// the packages.
func ensureInstalled(wanted fs.FS) (string, error) {
	installing.Lock()
	defer installing.Unlock()
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	name, err := digest(wanted)
	if err != nil {
		return "", err
	}
	parent := filepath.Join(cache, "mailhelm-test-clients")
	dir := filepath.Join(parent, name)
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	npm, err := exec.LookPath("npm")
	if err != nil {
		return "", errNoNPM
	}
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return "", err
	}
	return dir, install(npm, parent, dir, wanted)
}

// install runs "npm ci" in a temporary folder and renames that folder to dir, so that dir
// never has only a part of the packages. If another process creates dir first, install
// deletes the temporary folder.
func install(npm, parent, dir string, wanted fs.FS) error {
	draft, err := os.MkdirTemp(parent, "draft-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(draft) //nolint:errcheck // a leftover in the cache harms nothing
	if err := os.CopyFS(draft, wanted); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), installTimeout)
	defer cancel()
	// The packages work without their install scripts, so npm does not run the scripts.
	cmd := exec.CommandContext(ctx, npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
	var output bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = draft, &output, &output
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("npm ci: %w\n%s", err, output.String())
	}
	err = os.Rename(draft, dir)
	if _, there := os.Stat(dir); there == nil {
		return nil
	}
	return err
}

// digest returns the name of the folder for the packages: 16 hexadecimal digits of a
// SHA-256 over the names and contents of the files in wanted.
func digest(wanted fs.FS) (string, error) {
	sum := sha256.New()
	err := fs.WalkDir(wanted, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(wanted, name)
		fmt.Fprintf(sum, "%s %d\n%s", name, len(content), content)
		return err
	})
	return hex.EncodeToString(sum.Sum(nil))[:16], err
}

//go:embed node/package.json node/package-lock.json node/.npmrc
var nodePackage embed.FS

// Node returns the path of a Node.js program. It is that of an npm package of its own, which all
// tests share because it is large, or on systems without such a package the program that is
// installed on the machine. Without both it fails the test. It skips the test as [Packages] does.
func Node(t testing.TB) string {
	t.Helper()
	wanted, err := fs.Sub(nodePackage, "node")
	if err != nil {
		t.Fatal(err)
	}
	arch := map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]
	node := filepath.Join(Packages(t, wanted), Modules, "node-"+runtime.GOOS+"-"+arch, "bin", "node")
	if _, err := os.Stat(node); err == nil {
		return node
	}
	if node, err = exec.LookPath("node"); err != nil {
		t.Fatal(err)
	}
	return node
}
