package enginetest_test

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

// TestFolderTemplateCopiesSubfolders checks that a copy of a template has each file and each
// subfolder, empty ones too, with the permissions of the original.
func TestFolderTemplateCopiesSubfolders(t *testing.T) {
	t.Parallel()
	template := enginetest.NewFolderTemplate(func(dir string) error {
		name := func(path string) string { return filepath.Join(dir, path) }
		return errors.Join(
			os.MkdirAll(name("objects/tmp"), 0o700),
			os.WriteFile(name("key"), []byte("a key"), 0o600),
			os.WriteFile(name("objects/one"), []byte("an object"), 0o600),
			os.Chmod(name("objects/one"), 0o666),
			os.Chmod(name("objects/tmp"), 0o777),
			os.Chmod(name("objects"), 0o500),
		)
	})
	want := map[string]string{
		"key": "-rw------- a key", "objects": "dr-x------",
		"objects/one": "-rw-rw-rw- an object", "objects/tmp": "drwxrwxrwx",
	}
	for range 2 {
		dir := t.TempDir()
		template.CopyTo(t, dir)
		if got := contents(t, dir); !maps.Equal(got, want) {
			t.Errorf("the copy has %q, want %q", got, want)
		}
	}
}

// contents returns the mode of each entry in a folder by its relative path, and after the
// mode of a file its content.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	got := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, found fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		info, err := found.Info()
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		got[relative] = info.Mode().String()
		if info.Mode().IsRegular() {
			content, err := os.ReadFile(path)
			got[relative] += " " + string(content)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}
