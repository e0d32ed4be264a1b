package clients

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
	"sync"
	"testing"
	"time"
)

var (
	//go:embed *.mjs
	programs embed.FS
	//go:embed package.json package-lock.json .npmrc
	wanted embed.FS
)

const installTimeout = 5 * time.Minute

// errNoNPM is the one reason for which a test may be skipped.
var errNoNPM = errors.New("npm is not on this machine: the clients of other projects cannot be installed")

// workshop is a folder of the test's own with the programs, and with the packages
// where Node.js looks for them. A machine without npm skips the test, and fails it
// when CI is true.
func workshop(t testing.TB) string {
	t.Helper()
	packages, err := installed()
	if errors.Is(err, errNoNPM) && os.Getenv("CI") != "true" {
		t.Skip(err)
	}
	dir := t.TempDir()
	if err == nil {
		err = os.CopyFS(dir, programs)
	}
	if err == nil {
		err = os.Symlink(filepath.Join(packages, modules), filepath.Join(dir, modules))
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// modules is the folder in which npm puts packages.
const modules = "node_modules"

// installed is the folder in the user's cache that has the packages. It does its
// work once in a process; a folder that is complete stays for the next.
var installed = sync.OnceValues(func() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	name, err := digest()
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
	return dir, install(npm, parent, dir)
})

// install fills a folder of its own and then gives it its name, so that what has
// the name is complete. Of two processes that install at once the later one's
// folder is thrown away.
func install(npm, parent, dir string) error {
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
	// Packages get no say here: none of them needs its own install script.
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

// digest names the folder after what npm is told to install.
func digest() (string, error) {
	sum := sha256.New()
	err := fs.WalkDir(wanted, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := wanted.ReadFile(name)
		fmt.Fprintf(sum, "%s %d\n%s", name, len(content), content)
		return err
	})
	return hex.EncodeToString(sum.Sum(nil))[:16], err
}
