package oauth_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestAttackIndex checks that every test named in a row of ATTACKS.md exists, and that
// every TestAttack function has a row.
func TestAttackIndex(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("ATTACKS.md")
	if err != nil {
		t.Fatal(err)
	}
	known, listed := map[string]map[string][]string{}, map[string]bool{}
	for _, line := range strings.Split(string(page), "\n") {
		cells := strings.Split(strings.Trim(line, "| "), "|")
		if !strings.HasPrefix(line, "|") || len(cells) != 3 || strings.Contains(cells[2], "---") || strings.TrimSpace(cells[2]) == "Test" {
			continue
		}
		folder, name, elsewhere := strings.Cut(strings.TrimSpace(cells[2]), " Test")
		if !elsewhere {
			folder, name = "conformance/oauth", strings.TrimPrefix(strings.TrimSpace(cells[2]), "Test")
		}
		if known[folder] == nil {
			known[folder] = testsIn(t, filepath.Join("../..", folder))
		}
		function, sub, hasSub := strings.Cut("Test"+name, "/")
		texts, exists := known[folder][function]
		if listed[function] = true; !exists || hasSub && !slices.Contains(texts, sub) {
			t.Errorf("%s has no %s", folder, "Test"+name)
		}
	}
	for function := range known["conformance/oauth"] {
		if strings.HasPrefix(function, "TestAttack") && function != "TestAttackIndex" && !listed[function] {
			t.Errorf("%s is in no row", function)
		}
	}
}

// testsIn returns the names of the test functions of a folder. Each maps to the string
// literals in the function, which include the names of its subtests.
func testsIn(t *testing.T, folder string) map[string][]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no tests in %s: %v", folder, err)
	}
	tests := map[string][]string{}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Test") {
				tests[f.Name.Name] = textsOf(f)
			}
		}
	}
	return tests
}

func textsOf(f *ast.FuncDecl) []string {
	var texts []string
	ast.Inspect(f, func(n ast.Node) bool {
		if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
			if text, err := strconv.Unquote(l.Value); err == nil {
				texts = append(texts, text)
			}
		}
		return true
	})
	return texts
}
