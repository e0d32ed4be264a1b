package layout

import (
	"go/ast"
	"testing"
)

// TestProductKeepsThePasswordCost checks that only tests, and the packages of conformance,
// which are for tests, use the function passwords.LeastCost. The product hashes passwords at
// the cost that its default says.
func TestProductKeepsThePasswordCost(t *testing.T) {
	t.Parallel()
	uses := 0
	for _, s := range repository(t).Sources {
		ast.Inspect(s.File, func(n ast.Node) bool {
			selector, ok := n.(*ast.SelectorExpr)
			if !ok || selector.Sel.Name != "LeastCost" {
				return true
			}
			if uses++; !s.IsTest() && top(s.Folder()) != "conformance" {
				t.Errorf("%s lowers the cost of password hashes", s.Position(n.Pos()))
			}
			return true
		})
	}
	if uses == 0 {
		t.Error("no test uses passwords.LeastCost, so this test checks nothing")
	}
}
