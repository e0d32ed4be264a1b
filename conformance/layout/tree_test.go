package layout

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// tree parses the repository once and returns the same result to all tests of this package.
var tree = sync.OnceValues(func() (*Tree, error) {
	return ReadTree(filepath.Join("..", ".."))
})

func repository(t *testing.T) *Tree {
	t.Helper()
	read, err := tree()
	if err != nil {
		t.Fatal(err)
	}
	if len(read.Sources) < 20 {
		t.Fatalf("only %d Go files were found, so the tests would show nothing", len(read.Sources))
	}
	return read
}

func contents(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(repository(t).Root, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// topFolders are the folders at the top level.
var topFolders = []string{"cmd", "conformance", "core", "guardrails", "oauth", "rest", "storage", "tools"}

func TestTopLevelIsFixed(t *testing.T) {
	t.Parallel()
	files := []string{"CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "Makefile", "README.md", "go.mod", "go.sum"}
	seen := map[string]bool{}
	for _, file := range repository(t).Files {
		top, _, inFolder := strings.Cut(file, "/")
		if strings.HasPrefix(top, ".") || seen[top] {
			continue
		}
		seen[top] = true
		if inFolder && !slices.Contains(topFolders, top) {
			t.Errorf("%s/ is not one of the top-level folders %v", top, topFolders)
		}
		if !inFolder && !slices.Contains(files, top) {
			t.Errorf("%s stands at the top level, where only %v may", top, files)
		}
	}
	for _, name := range slices.Concat(topFolders, files) {
		if !seen[name] {
			t.Errorf("%s is missing at the top level", name)
		}
	}
}
