package predicate_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/mailhelm/mailhelm/core/predicate"
)

// refused has words that the parser recognizes only to say what to write instead.
var refused = []string{"like", "includes", "null"}

// TestKeywordsAreComplete compares the keywords with the words in the calls of the parser.
func TestKeywordsAreComplete(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("parse*.go")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, file := range files {
		source, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(source, func(n ast.Node) bool {
			call, is := n.(*ast.CallExpr)
			if !is {
				return true
			}
			method, is := call.Fun.(*ast.SelectorExpr)
			if !is || method.Sel.Name != "accept" && method.Sel.Name != "word" && method.Sel.Name != "is" {
				return true
			}
			for _, argument := range call.Args {
				literal, is := argument.(*ast.BasicLit)
				if !is {
					continue
				}
				word, err := strconv.Unquote(literal.Value)
				if err != nil {
					t.Fatal(err)
				}
				found++
				if !slices.Contains(refused, word) && !slices.Contains(predicate.Keywords(), word) {
					t.Errorf("%s reads the word %q, which is no keyword", file, word)
				}
			}
			return true
		})
	}
	if found < 30 {
		t.Errorf("only %d words were found, so the test would show nothing", found)
	}
	if !slices.IsSorted(predicate.Keywords()) || !slices.Contains(predicate.Keywords(), "delivery_delay") {
		t.Errorf("the keywords are %v", predicate.Keywords())
	}
}
