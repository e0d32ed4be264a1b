package manifest_test

import (
	"cmp"
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

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

// TestErrorsBehindWarnings checks that many warnings hide no error: the definition with the error would be
// left out, and pruned.
func TestErrorsBehindWarnings(t *testing.T) {
	t.Parallel()
	var keywords strings.Builder
	for i := range 300 {
		fmt.Fprintf(&keywords, `"x-%d": 1, `, i)
	}
	r := manifest.Read(archive.Tree{
		archive.ManifestPath: []byte(`{"attributes": "a.json", "segments": {"lost": {"path": "lost.predicate"}}}`),
		"a.json":             []byte(`{` + keywords.String() + `"type": "object"}`),
	})
	if len(r.Diagnostics) != 200 || !r.HasErrors() {
		t.Errorf("%d diagnostics, errors %t, faults %v", len(r.Diagnostics), r.HasErrors(), r.Faults)
	}
}

// TestOneFileManyTimes checks that a manifest cannot multiply a file: each definition has a copy of its
// text.
func TestOneFileManyTimes(t *testing.T) {
	t.Parallel()
	large := []byte(strings.Repeat("x", archive.MaxFile))
	sets := []byte(`{"x": "` + strings.Repeat("x", archive.MaxFile/2) + `"}`)
	for name, last := range map[string]string{"text": `{"path": "a.hbs"}`, "plain text": `{"path": "b.hbs", "text": "a.hbs"}`, "file of sets": `{"path": "b.hbs", "testdata": "sets.json"}`, "folder of sets": `{"path": "b.hbs", "testdata": "sets/"}`} {
		var members []string
		for i := range 12 { // almost all that may be read
			members = append(members, fmt.Sprintf(`"t%d": {"path": "a.hbs"}`, i))
		}
		for i := range 2 {
			members = append(members, fmt.Sprintf(`"u%d": %s`, i, last))
		}
		r := manifest.Read(archive.Tree{
			archive.ManifestPath: []byte(`{"templates": {` + strings.Join(members, ", ") + `}}`), "a.hbs": large, "b.hbs": []byte("<p></p>"), "sets.json": sets, "sets/a.json": sets,
		})
		kept := 0
		for _, t := range r.Set.Templates {
			kept += len(t.HTML) + len(t.Text) + len(t.TestData["sets"]) + len(t.TestData["a"])
		}
		if !r.HasErrors() || kept == 0 || kept > archive.MaxContent {
			t.Errorf("%s: %d bytes are kept, errors %t", name, kept, r.HasErrors())
		}
	}
}

// TestManyValues checks that the number of JSON values of a bundle is limited, because each takes far more
// memory than its text.
func TestManyValues(t *testing.T) {
	t.Parallel()
	for name, content := range map[string]string{
		"array": `[` + strings.Repeat("0,", 600_000) + `0]`, "deep": strings.Repeat("[", 40) + strings.Repeat("]", 40),
	} {
		r := manifest.Read(archive.Tree{archive.ManifestPath: []byte(`{"attributes": "a.json"}`), "a.json": []byte(content)})
		if len(r.Diagnostics) != 1 || r.Diagnostics[0].Code != manifest.InvalidJSON || !strings.Contains(r.Diagnostics[0].Message, "values") {
			t.Errorf("%s: %+v", name, r.Diagnostics)
		}
	}
}

// TestManyWarningsCostNoTime checks that finding the places of warnings does not read the file once for
// each of them.
func TestManyWarningsCostNoTime(t *testing.T) {
	t.Parallel()
	var keywords strings.Builder
	for i := range 50_000 {
		fmt.Fprintf(&keywords, `"x-%d": 1, `, i)
	}
	began := time.Now()
	manifest.Read(archive.Tree{archive.ManifestPath: []byte(`{"attributes": "a.json"}`), "a.json": []byte(`{` + keywords.String() + `"type": "object"}`)})
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
}
