package layout

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// goldenTest begins the names of the tests that write what they compare with. "make
// generate" runs them alone, by this name.
const goldenTest = "TestGolden"

// TestGoldensAreWrittenByName: a test is named TestGolden... if and only if it reads the
// flag "update", itself or through a function of its package.
func TestGoldensAreWrittenByName(t *testing.T) {
	t.Parallel()
	uses := map[string]map[string][]string{} // folder, function, the names in its body
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

// namesUsed adds the names of the variables and the called functions in the body of each
// function, by the function's name, and under "var" the variables of the package.
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

// nameUsed returns the name that is called or read through a pointer, with a dot in front
// if it is a method's; "" for other nodes.
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

// reaches reports whether a function of the package names the variable, or calls one
// that does.
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
