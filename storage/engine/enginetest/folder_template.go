package enginetest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
)

// FolderTemplate is a data folder that is made once in a process, because that takes longer
// than most tests. Each test gets a copy of its files and subfolders.
type FolderTemplate struct{ entries func() ([]entry, error) }

// entry is a file or a subfolder of a FolderTemplate. Its path is relative to the folder.
type entry struct {
	path    string
	mode    os.FileMode
	content []byte
}

// NewFolderTemplate returns a template of the folder that fill fills. fill gets the path of
// an empty folder. When it returns, the folder must have no open database and nothing but
// regular files and folders.
func NewFolderTemplate(fill func(dir string) error) *FolderTemplate {
	return &FolderTemplate{sync.OnceValues(func() (entries []entry, err error) {
		dir, err := os.MkdirTemp(temporary(), "mailhelm-template-")
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
		if err := fill(dir); err != nil {
			return nil, err
		}
		return readEntries(dir)
	})}
}

// CopyOfFolder returns a template with the present content of a folder. The folder must have no
// open database and nothing but regular files and folders.
func CopyOfFolder(tb testing.TB, dir string) *FolderTemplate {
	tb.Helper()
	entries, err := readEntries(dir)
	if err != nil {
		tb.Fatalf("enginetest: copy of a folder: %v", err)
	}
	return &FolderTemplate{func() ([]entry, error) { return entries, nil }}
}

// CopyTo writes the files and subfolders of the template to an existing folder, with their
// permissions. It fails the test if the template cannot be made.
func (f *FolderTemplate) CopyTo(tb testing.TB, dir string) {
	tb.Helper()
	if err := f.writeTo(dir); err != nil {
		tb.Fatalf("enginetest: folder template: %v", err)
	}
}

func (f *FolderTemplate) writeTo(dir string) error {
	entries, err := f.entries()
	for _, entry := range entries {
		err = errors.Join(err, entry.writeTo(dir))
	}
	// The modes come last and from the inside out: a folder may refuse new files, and the
	// umask applies to new entries.
	for _, entry := range slices.Backward(entries) {
		err = errors.Join(err, os.Chmod(filepath.Join(dir, entry.path), entry.mode.Perm()))
	}
	return err
}

// writeTo makes a copy of an entry, which only its owner can use, in a folder. The folder
// that the entry is in must exist.
func (e entry) writeTo(dir string) error {
	path := filepath.Join(dir, e.path)
	if e.mode.IsDir() {
		return os.Mkdir(path, 0o700)
	}
	return os.WriteFile(path, e.content, 0o600)
}

// readEntries returns the files and subfolders in a folder, at any depth, and each subfolder
// before what is in it.
func readEntries(dir string) ([]entry, error) {
	var entries []entry
	err := filepath.WalkDir(dir, func(path string, found fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		info, err := found.Info()
		if err != nil {
			return err
		}
		copied := entry{mode: info.Mode()}
		if copied.path, err = filepath.Rel(dir, path); err != nil {
			return err
		}
		switch {
		case copied.mode.IsDir():
		case copied.mode.IsRegular():
			copied.content, err = os.ReadFile(path)
		default:
			err = fmt.Errorf("%s is neither a file nor a folder", path)
		}
		entries = append(entries, copied)
		return err
	})
	return entries, err
}
