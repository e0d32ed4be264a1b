package layout

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// goldenTest is the prefix in the names of the tests that can write their expected results
// to files. "make generate" runs only these tests.
const goldenTest = "TestGolden"

// TestGoldensAreWrittenByName checks test names. A test that reads the flag variable update
// of its package, directly or through functions that it calls, must have a name that begins
// with TestGolden. No other test may have such a name. A function that reads the variable writes
// files with the package goldentest.
func TestGoldensAreWrittenByName(t *testing.T) {
	t.Parallel()
	uses := map[string]map[string][]string{} // the names that each function uses, by folder and function
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
			if slices.Contains(functions[name], "update") && slices.Contains(functions[name], ".WriteFile") {
				t.Errorf("%s: %s writes a golden with os.WriteFile, want goldentest.Write", folder, name)
			}
			writes := functionUses(functions, name, "update", map[string]bool{})
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

// namesUsed adds an entry to the map into for each function of the file. The key is the
// function's name, with a dot before the name of a method. The value has the names of the
// functions that it calls and of the pointers that it dereferences. The entry "var" has the
// names of the package variables.
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

// nameUsed returns a name if n is a function call or the dereference of a pointer: that of
// the function or the pointer. The name of a method or field begins with a dot. For other
// nodes it returns "".
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

// functionUses reports whether the function named in from uses the variable, directly or
// through functions that it calls. functions has the names that each function uses. seen
// has the functions already visited.
func functionUses(functions map[string][]string, from, variable string, seen map[string]bool) bool {
	seen[from] = true
	for _, name := range functions[from] {
		if name == variable && from != "var" {
			return true
		}
		if functions[name] != nil && name != "var" && !seen[name] && functionUses(functions, name, variable, seen) {
			return true
		}
	}
	return false
}
