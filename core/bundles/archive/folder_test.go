package archive_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core/bundles/archive"
)

// folderOf writes files to a new folder, and returns its path.
func folderOf(t *testing.T, files map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	for name, content := range files {
		path := filepath.Join(folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func readFolder(t *testing.T, folder string) (archive.Tree, error) {
	t.Helper()
	root, err := os.OpenRoot(folder)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close() //nolint:errcheck // only read
	return archive.ReadFolder(root.FS())
}

func TestFolder(t *testing.T) {
	t.Parallel()
	got, err := readFolder(t, folderOf(t, map[string]string{
		"mailhelm.json": "{}", "templates/a.hbs": "a", ".git/config": "x", ".gitignore": "x", "templates/.swp": "x", "b/.hidden/c": "x", "README.md": "read",
	}))
	want := archive.Tree{"mailhelm.json": []byte("{}"), "templates/a.hbs": []byte("a"), "README.md": []byte("read")}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestFolderRefuses(t *testing.T) {
	t.Parallel()
	many := map[string]string{}
	for i := range archive.MaxFiles + 1 {
		many[fmt.Sprintf("f/%d", i)] = ""
	}
	for name, test := range map[string]struct {
		files map[string]string
		add   func(folder string) error
		want  string
	}{
		"a link to a file":   {nil, func(folder string) error { return os.Symlink("mailhelm.json", filepath.Join(folder, "link")) }, `"link", which is a symbolic link`},
		"a link to a folder": {nil, func(folder string) error { return os.Symlink("/", filepath.Join(folder, "root")) }, `"root", which is a symbolic link`},
		"a broken link":      {nil, func(folder string) error { return os.Symlink("none", filepath.Join(folder, "a")) }, "symbolic link"},
		"a pipe":             {nil, func(folder string) error { return syscall.Mkfifo(filepath.Join(folder, "pipe"), 0o600) }, `"pipe", which is no regular file`},
		"a large file":       {map[string]string{"x.png": strings.Repeat("x", archive.MaxFile+1)}, nil, `"x.png", which is larger than`},
		"a large manifest":   {map[string]string{"mailhelm.json": strings.Repeat("x", archive.MaxManifest+1)}, nil, "larger than"},
		"many files":         {many, nil, "more than"},
		"two cases":          {map[string]string{"A": "", "a": ""}, nil, "upper and lower case"},
		"a backslash":        {map[string]string{`a\b`: ""}, nil, "backslash"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := folderOf(t, test.files)
			if test.add != nil {
				if err := test.add(folder); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := readFolder(t, folder); !strings.Contains(errorText(err), test.want) {
				t.Errorf("%v, want %q", err, test.want)
			}
		})
	}
}
