package generated

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core/goldentest"
)

var update = flag.Bool("update", false, "write the documents")

// root is the relative path from this test's folder to the root of the repository.
var root = filepath.Join("..", "..")

func TestGoldenReadme(t *testing.T) {
	t.Parallel()
	committed := read(t, "README.md")
	derived := committed
	for name, content := range map[string]string{"tools": toolTable(), "routes": routeTable()} {
		var err error
		if derived, err = replaceBetween(derived, name, content); err != nil {
			t.Fatalf("README.md: %v", err)
		}
	}
	compareOrUpdate(t, "README.md", committed, derived)
}

func TestGoldenScopes(t *testing.T) {
	t.Parallel()
	holdFile(t, "core/doc/scopes.md", scopesDocument())
}

func TestGoldenErrors(t *testing.T) {
	t.Parallel()
	holdFile(t, "core/doc/errors.md", errorsDocument())
}

func TestGoldenPersonalData(t *testing.T) {
	t.Parallel()
	holdFile(t, "rest/docs/guides/personal-data.md", personalDataGuide())
}

func TestGoldenSchema(t *testing.T) {
	t.Parallel()
	dump, err := schemaDump(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(dump, "CREATE TABLE contacts") {
		t.Errorf("the dump lacks the table of contacts:\n%s", dump)
	}
	holdFile(t, "core/doc/schema.sql", dump)
}

func TestGoldenExampleWorkflows(t *testing.T) {
	t.Parallel()
	guide, figures, err := exampleGuide()
	if err != nil {
		t.Fatal(err)
	}
	holdFile(t, "rest/docs/guides/workflow-examples.md", guide)
	for name, drawing := range figures {
		holdFile(t, "rest/docs/guides/figures/"+name, drawing)
	}
}

// holdFile fails the test if the committed file differs from the derived text. It treats a
// missing file as empty. With the flag -update it writes the derived text to the file
// instead of failing.
func holdFile(t *testing.T, name, derived string) {
	t.Helper()
	committed, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	compareOrUpdate(t, name, string(committed), derived)
}

func compareOrUpdate(t *testing.T, name, committed, derived string) {
	t.Helper()
	if committed == derived {
		return
	}
	if !*update {
		t.Errorf("%s is not what the code gives; run \"make generate\" (-committed +derived):\n%s", name, cmp.Diff(committed, derived))
		return
	}
	if err := goldentest.Write(filepath.Join(root, filepath.FromSlash(name)), []byte(derived), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Logf("wrote %s", name)
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestReplaceBetween(t *testing.T) {
	t.Parallel()
	const document = "a\n<!-- begin x -->\nold\n<!-- end x -->\nb\n"
	got, err := replaceBetween(document, "x", "new\n")
	if want := "a\n<!-- begin x -->\nnew\n<!-- end x -->\nb\n"; err != nil || got != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
	for name, broken := range map[string]string{
		"no begin": "<!-- end x -->", "no end": "<!-- begin x -->\n", "twice": document + document,
	} {
		if _, err := replaceBetween(broken, "x", "new\n"); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestTableEscapesBars(t *testing.T) {
	t.Parallel()
	if got, want := table([]string{"a"}, [][]string{{"x|y"}}), "| a |\n|---|\n| x\\|y |\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
