package grants

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/privatefile"
)

// DefaultFolder returns the folder for grants and locks in the user's configuration folder.
func DefaultFolder() (string, error) {
	base, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("no folder for grants: name one with --store-folder: %w", err)
	}
	return filepath.Join(base, "mailhelm", "grants"), nil
}

// makeFolder creates the folder, readable by its owner only. It refuses a folder that other
// users of the machine can read or change, and leaves its permissions as they are: others may
// need the folder.
func makeFolder(folder string) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("folder for grants: %w", err)
	}
	info, err := os.Stat(folder)
	if err != nil {
		return fmt.Errorf("folder for grants: %w", err)
	}
	if others := info.Mode().Perm() & 0o077; others != 0 && runtime.GOOS != "windows" { // where the bits say nothing
		return fmt.Errorf("the folder for grants %[1]s has permissions for other users of this machine (%[2]v): run 'chmod 700 %[1]s', or name another folder with --store-folder", folder, info.Mode().Perm())
	}
	return nil
}

// baseName returns the name of the files for an address, without extension. It is a hash,
// because addresses have characters that file names cannot have.
func baseName(address string) string {
	sum := sha256.Sum256([]byte(address))
	return hex.EncodeToString(sum[:12])
}

// fileStore stores each grant in a file of its own with mode 0600.
type fileStore struct{ folder string }

func (s fileStore) path(address string) string {
	return filepath.Join(s.folder, baseName(address)+".json")
}

// Load implements [Store].
func (s fileStore) Load(address string) (Grant, error) {
	raw, err := os.ReadFile(s.path(address))
	if errors.Is(err, fs.ErrNotExist) {
		return Grant{}, ErrNone
	}
	if err != nil {
		return Grant{}, err
	}
	return decode(raw)
}

// Save implements [Store].
func (s fileStore) Save(g Grant) error {
	raw, err := json.MarshalIndent(g, "", "  ") //nolint:gosec // the file is readable by its owner only
	if err != nil {
		return err
	}
	return privatefile.Write(s.path(g.Address), append(raw, '\n'))
}

// Delete implements [Store].
func (s fileStore) Delete(address string) error {
	err := os.Remove(s.path(address))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Where implements [Store].
func (s fileStore) Where(address string) string { return "the file " + s.path(address) }
