package mailhtml

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core/goldentest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// newsletters returns the example mails in testdata by their names without extension.
func newsletters(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("testdata/*.html")
	if err != nil || len(files) < 3 {
		t.Fatalf("%d example mails: %v", len(files), err)
	}
	all := map[string]string{}
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all[strings.TrimSuffix(file, ".html")] = string(source)
	}
	return all
}

// golden compares got with a file, or writes the file with -update.
func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := goldentest.Write(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s: (-want +got)\n%s", file, diff)
	}
}

// TestGoldenText compares the plain text of each example mail with its golden file.
func TestGoldenText(t *testing.T) {
	t.Parallel()
	for name, source := range newsletters(t) {
		golden(t, name+".txt", Text(source))
	}
}

// TestGoldenInline compares each example mail, with its rules applied, with its golden file.
func TestGoldenInline(t *testing.T) {
	t.Parallel()
	for name, source := range newsletters(t) {
		inlined, err := Inline(source)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		golden(t, name+".inlined.golden", inlined)
	}
}
