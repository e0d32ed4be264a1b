package layout

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// goldenTest is the prefix of the names of tests that can write their expected results to
// files. "make generate" runs only the tests with this prefix.
const goldenTest = "TestGolden"

// TestGoldensAreWrittenByName checks that a test is named TestGolden... if and only if it
// reads the flag "update", directly or through a function of its package.
func TestGoldensAreWrittenByName(t *testing.T) {
	t.Parallel()
	uses := map[string]map[string][]string{} // by folder and function: the names in the function's body
	for _, s := range repository(t).Sources {
		if s.IsTest() {
			if uses[s.Folder()] == nil {
				uses[s.Folder()] = map[string][]string{}
			}
			namesUsed(s.File, uses[s.Folder()])
		}
	}
	goldens := 0
	for folder, functions := range uses {
		if !slices.Contains(functions["var"], "update") {
			continue
		}
		for name := range functions {
			writes := reaches(functions, name, "update", map[string]bool{})
			if strings.HasPrefix(name, "Test") && writes != strings.HasPrefix(name, goldenTest) {
				t.Errorf("%s: %s writes goldens: %t, so its name begins with %s or not", folder, name, writes, goldenTest)
			}
			if writes && strings.HasPrefix(name, goldenTest) {
				goldens++
			}
		}
	}
	if goldens < 10 {
		t.Errorf("%d tests that write goldens were found", goldens)
	}
}

// namesUsed adds to into, for each function of the file, the variables and functions that
// its body names. The key is the function's name. Under the key "var" it adds the variables
// of the package.
func namesUsed(file *ast.File, into map[string][]string) {
	for _, declaration := range file.Decls {
		switch d := declaration.(type) {
		case *ast.FuncDecl:
			name := d.Name.Name
			if d.Recv != nil {
				name = "." + name
			}
			ast.Inspect(d, func(n ast.Node) bool {
				into[name] = append(into[name], nameUsed(n))
				return true
			})
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if values, ok := spec.(*ast.ValueSpec); ok && d.Tok == token.VAR {
					for _, name := range values.Names {
						into["var"] = append(into["var"], name.Name)
					}
				}
			}
		}
	}
}

// nameUsed returns the name of the function that n calls, or of the pointer that n
// dereferences. A method or field has a dot in front. It returns "" for other nodes.
func nameUsed(n ast.Node) string {
	var called ast.Node
	switch outer := n.(type) {
	case *ast.CallExpr:
		called = outer.Fun
	case *ast.StarExpr:
		called = outer.X
	default:
		return ""
	}
	switch name := called.(type) {
	case *ast.Ident:
		return name.Name
	case *ast.SelectorExpr:
		return "." + name.Sel.Name
	}
	return ""
}

// reaches reports whether the function from uses the variable, itself or through functions
// that it calls. seen collects the visited functions.
func reaches(functions map[string][]string, from, variable string, seen map[string]bool) bool {
	seen[from] = true
	for _, name := range functions[from] {
		if name == variable && from != "var" {
			return true
		}
		if functions[name] != nil && name != "var" && !seen[name] && reaches(functions, name, variable, seen) {
			return true
		}
	}
	return false
}
