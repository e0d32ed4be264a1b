package layout

import (
	"go/ast"
	"path"
	"regexp"
	"strings"
	"testing"
)

// Marks of work left for later, split here so that this file holds none.
var promise = regexp.MustCompile("TO" + "DO|FIX" + "ME|XX" + "X:|not imple" + "mented|unimple" + "mented|place" + "holder")

// flagTag is how a command-line flag names its value in the help text.
const flagTag = "place" + `holder:"`

func TestNoPromises(t *testing.T) {
	t.Parallel()
	for _, file := range repository(t).Files {
		if ext := path.Ext(file); ext != ".go" && ext != ".md" && ext != ".sql" {
			continue
		}
		for n, line := range strings.Split(contents(t, file), "\n") {
			if found := promise.FindString(strings.ReplaceAll(line, flagTag, "")); found != "" {
				t.Errorf("%s:%d: %q promises something: do it, or leave the words out", file, n+1, found)
			}
		}
	}
}

// A skipped test shows nothing. Those that may be skipped need a PostgreSQL
// server, Redis, Chromium or npm, are skipped by a package that other tests import, and
// fail a run with CI=true.
func TestNoSkips(t *testing.T) {
	t.Parallel()
	for _, s := range repository(t).Sources {
		if s.Folder() == "storage/storagetest" {
			continue
		}
		ast.Inspect(s.File, func(n ast.Node) bool {
			if selector, ok := n.(*ast.SelectorExpr); ok {
				switch selector.Sel.Name {
				case "Skip", "Skipf", "SkipNow":
					if _, plain := selector.X.(*ast.Ident); plain && s.IsTest() {
						t.Errorf("%s skips a test", s.Position(n.Pos()))
					}
				}
			}
			return true
		})
	}
}
