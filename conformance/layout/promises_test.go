package layout

import (
	"go/ast"
	"path"
	"regexp"
	"strings"
	"testing"
)

// promise matches words that mark unfinished work. Each word is split in this file, so that
// TestNoPromises, which also reads this file, does not find it here.
var promise = regexp.MustCompile("TO" + "DO|FIX" + "ME|XX" + "X:|not imple" + "mented|unimple" + "mented|place" + "holder")

// flagTag is the struct tag for the value of a command-line flag in the help text. It
// contains a word that the regular expression promise matches, so the test removes the tag
// first.
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

// TestNoSkips checks that no test file skips a test by itself. If PostgreSQL, Redis,
// Chromium or npm is missing, a shared helper skips the test, or fails it if CI=true.
func TestNoSkips(t *testing.T) {
	t.Parallel()
	for _, s := range repository(t).Sources {
		if s.Folder() == "storage/engine/enginetest" {
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
