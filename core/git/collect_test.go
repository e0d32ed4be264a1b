package git_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core/bundles/archive"
	"github.com/mailhelm/mailhelm/core/git"
)

// manifest names one file of each kind of entry.
const manifest = `{
  "attributes": "audience/attributes.json", "images": ["static/logo.png", 5, "link/logo.png"],
  "templates": {"welcome": {"path": "templates/welcome.hbs", "text": "templates/welcome.txt", "testdata": "fixtures/welcome/"},
    "shared": {"path": "vendor/shared.hbs", "testdata": "module/"}, "broken": 7},
  "segments": {"vip": {"path": "audience/vip.predicate"}, "large": {"path": "audience/large.predicate"}},
  "workflows": {"trial": {"path": "workflows/trial.flow"}, "con": {"path": "workflows/a:b.flow"}}
}`

// contents are the files of the repository that the test collects.
var contents = map[string]string{
	archive.ManifestPath: manifest, "audience/attributes.json": "{}", "static/logo.png": "PNG", "templates/welcome.hbs": "<p>", "templates/welcome.txt": "text",
	"fixtures/welcome/a.json": "{}", "fixtures/welcome/b/c.json": "{}", "fixtures/other/a.json": "{}", "workflows/trial.flow": "version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 5\n",
	"workflows/a:b.flow": "x", "audience/vip.predicate": "", "README.md": "not named",
}

func TestCollect(t *testing.T) {
	t.Parallel()
	entries := []git.Entry{
		{Path: "fixtures", Kind: git.Folder},
		{Path: "vendor", Kind: git.Symlink},
		{Path: "module", Kind: git.Submodule},
		{Path: "link", Kind: git.Submodule},
		{Path: "elsewhere", Kind: git.Symlink},
		{Path: "audience/large.predicate"},
	}
	for path := range contents {
		e := git.Entry{Path: path}
		if path == "audience/vip.predicate" {
			e.Kind = git.Symlink
		}
		entries = append(entries, e)
	}
	var read []string
	tree, diagnostics, err := git.Collect(t.Context(), entries, func(_ context.Context, e git.Entry, limit int64) ([]byte, error) {
		read = append(read, e.Path)
		if e.Path == "audience/large.predicate" {
			return nil, git.ErrTooLarge
		}
		if want := map[bool]int64{true: archive.MaxManifest, false: archive.MaxFile}[e.Path == archive.ManifestPath]; limit != want {
			t.Errorf("%s: at most %d bytes, want %d", e.Path, limit, want)
		}
		return []byte(contents[e.Path]), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"audience/attributes.json", "fixtures/welcome/a.json", "fixtures/welcome/b/c.json", archive.ManifestPath, "static/logo.png", "templates/welcome.hbs", "templates/welcome.txt"}; !slices.Equal(tree.Paths(), want) {
		t.Errorf("%v, want %v", tree.Paths(), want)
	}
	if slices.Contains(read, "README.md") || slices.Contains(read, "fixtures/other/a.json") || slices.Contains(read, "audience/vip.predicate") {
		t.Errorf("read %v", read)
	}
	got := map[string]string{}
	for _, d := range diagnostics {
		got[d.Path] = d.Code
		if !strings.Contains(d.Message, d.Path) {
			t.Errorf("%q does not name %s", d.Message, d.Path)
		}
	}
	want := map[string]string{
		"audience/vip.predicate": git.CodeSymlink, "audience/large.predicate": git.CodeFileTooLarge, "workflows/trial.flow": git.CodeLFS,
		"workflows/a:b.flow": git.CodeFileRefused, "vendor/shared.hbs": git.CodeSymlink, "module": git.CodeSubmodule, "link/logo.png": git.CodeSubmodule,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("diagnostics (-want +got):\n%s", diff)
	}
}

// TestCollectWithoutManifest checks that without a manifest, and with one that is no JSON, no other
// file is read, and that a failed read is returned.
func TestCollectWithoutManifest(t *testing.T) {
	t.Parallel()
	reading := func(content string, err error) func(context.Context, git.Entry, int64) ([]byte, error) {
		return func(context.Context, git.Entry, int64) ([]byte, error) { return []byte(content), err }
	}
	other := git.Entry{Path: "templates/a.hbs"}
	tree, diagnostics, err := git.Collect(t.Context(), []git.Entry{other}, reading("", errors.New("read")))
	if err != nil || len(tree) != 0 || len(diagnostics) != 0 {
		t.Errorf("no manifest: %v, %v, %v", tree, diagnostics, err)
	}
	with := []git.Entry{other, {Path: archive.ManifestPath}}
	for _, text := range []string{"", "[", "[]", `{"templates": ["templates/a.hbs"], "images": "templates/a.hbs"}`, `{"templates": {"a": ["templates/a.hbs"]}}`} {
		if tree, _, err := git.Collect(t.Context(), with, reading(text, nil)); err != nil || len(tree) != 1 {
			t.Errorf("%q: %v, %v", text, tree.Paths(), err)
		}
	}
	failed := errors.New("gone")
	if _, _, err := git.Collect(t.Context(), with, reading("", failed)); !errors.Is(err, failed) {
		t.Errorf("%v, want %v", err, failed)
	}
}
