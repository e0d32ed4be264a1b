package manifest_test

import (
	"cmp"
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core/bundles/archive"
	"github.com/mailhelm/mailhelm/core/bundles/definitions"
	"github.com/mailhelm/mailhelm/core/bundles/manifest"
	"github.com/mailhelm/mailhelm/core/goldentest"
	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "write the expected results")

// treeOf returns the files of a txtar archive.
func treeOf(a *txtar.Archive) archive.Tree {
	tree := archive.Tree{}
	for _, f := range a.Files {
		if f.Name != "want" {
			tree[f.Name] = f.Data
		}
	}
	return tree
}

// TestGoldenRead reads the bundles of testdata. Each has the file "want" with the definitions and
// diagnostics that are expected.
func TestGoldenRead(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) < 4 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := describe(manifest.Read(treeOf(a)))
			at := slices.IndexFunc(a.Files, func(f txtar.File) bool { return f.Name == "want" })
			if *update {
				if at < 0 {
					a.Files, at = append(a.Files, txtar.File{Name: "want"}), len(a.Files)
				}
				a.Files[at].Data = []byte(got)
				if err := goldentest.Write(file, txtar.Format(a), 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
			if at < 0 {
				t.Fatal("no file \"want\"")
			}
			if diff := gocmp.Diff(string(a.Files[at].Data), got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// describe writes a result as text.
func describe(r *manifest.Result) string {
	var b strings.Builder
	show := func(about string, all []definitions.Diagnostic) {
		for _, d := range all {
			fmt.Fprintf(&b, "%s: %s %s %s:%d:%d: %s\n", about, d.Severity, d.Code, d.Path, d.Line, d.Column, d.Message)
		}
	}
	show("bundle", r.Diagnostics)
	refs := make([]definitions.Ref, 0, len(r.Paths))
	for ref := range r.Paths {
		refs = append(refs, ref)
	}
	slices.SortFunc(refs, func(a, b definitions.Ref) int { return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Key, b.Key)) })
	for _, ref := range refs {
		fmt.Fprintf(&b, "%s %s in %s\n", ref.Kind, ref.Key, r.Paths[ref])
		show("  "+ref.Key, r.Faults[ref])
	}
	for _, kind := range definitions.Kinds() {
		if r.Set.Declared[kind] {
			fmt.Fprintf(&b, "declared %s\n", kind)
		}
		for _, item := range r.Set.Items(kind) {
			fmt.Fprintf(&b, "  %s = %s\n", item.Key, item.Content)
		}
	}
	for _, path := range r.Unused {
		fmt.Fprintf(&b, "unused %s\n", path)
	}
	fmt.Fprintf(&b, "errors %v\n", r.HasErrors())
	return b.String()
}
