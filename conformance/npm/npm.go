// Package npm installs npm packages for tests. It installs exactly the versions in a
// package-lock.json, and keeps them in the user's cache folder for later runs.
package npm

import (
	"bytes"
	"context"
	"crypto/sha256"
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

	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// installTimeout limits one run of npm ci, which downloads the packages.
const installTimeout = 5 * time.Minute

// Modules is the name of the folder with the packages, inside the folder that [Packages]
// returns.
const Modules = "node_modules"

// errNoNPM is the error of ensureInstalled if npm is needed and missing. [Packages] skips
// the test for this error; any other error fails it.
var errNoNPM = errors.New("npm is not on this machine: the programs of other projects cannot be installed")

// Packages returns a folder with the npm packages that the files in wanted require:
// package.json, package-lock.json and .npmrc. It skips the test if the packages are not
// installed yet and npm is missing; if CI is true, it fails the test instead. It also skips
// the test if MAILHELM_TEST_SERVICES is none. Several tests share the folder, so no test
// may write to it.
func Packages(t testing.TB, wanted fs.FS) string {
	t.Helper()
	if !storagetest.Services() {
		storagetest.Missing(t, errNoNPM.Error())
	}
	dir, err := ensureInstalled(wanted)
	if errors.Is(err, errNoNPM) {
		storagetest.Missing(t, err.Error())
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// installing is locked during an installation, so that two tests of one process do not
// install the same packages.
var installing sync.Mutex

// ensureInstalled returns the folder in the user's cache that has the packages, and installs
// them if it is missing. A complete folder is reused by later runs.
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

// install runs npm in a temporary folder and then renames that to dir, so that a folder
// named dir is always complete. If another process has created dir first, install keeps
// that and deletes its own folder.
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
	// The packages work without their install scripts, so npm does not run these.
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

// digest returns a name for the folder, derived from the files that determine what npm
// installs. It has 16 hexadecimal digits of a SHA-256 over their names and contents.
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

// Node returns the path of the Node.js program that is among the installed packages in dir.
// If there is none for this platform, it returns that of the machine. The error wraps
// [exec.ErrNotFound] if both are missing.
func Node(dir string) (string, error) {
	arch := map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]
	own := filepath.Join(dir, Modules, "node-"+runtime.GOOS+"-"+arch, "bin", "node")
	if _, err := os.Stat(own); err == nil {
		return own, nil
	}
	return exec.LookPath("node")
}
