package layout

import (
	"go/ast"
	"slices"
	"strings"
)

// Sizes is a sorted row of counts.
type Sizes []int

// At is the size that the given share of all are not larger than: At(0.5) is the
// median. An empty row has size 0 everywhere.
func (s Sizes) At(share float64) int {
	if len(s) == 0 {
		return 0
	}
	return s[min(len(s)-1, int(share*float64(len(s))))]
}

// Function is one function or method with its length from "func" to the last brace.
type Function struct {
	Name, Position string
	Lines          int
}

// Functions are the functions and methods of the file. Function literals are part of
// the one that holds them.
func (s Source) Functions() []Function {
	var found []Function
	for _, declaration := range s.File.Decls {
		f, ok := declaration.(*ast.FuncDecl)
		if !ok {
			continue
		}
		lines := s.Set.Position(f.End()).Line - s.Set.Position(f.Pos()).Line + 1
		found = append(found, Function{Name: f.Name.Name, Position: s.Position(f.Pos()), Lines: lines})
	}
	return found
}

// CommentShare is the share of comment lines among all lines that are not blank.
func CommentShare(sources []Source) float64 {
	comments, written := 0, 0
	for _, s := range sources {
		for line := range strings.Lines(string(s.Text)) {
			line = strings.TrimSpace(line)
			if line == "" {
				continue
			}
			written++
			if strings.HasPrefix(line, "//") {
				comments++
			}
		}
	}
	return float64(comments) / float64(max(1, written))
}

func sorted(sizes Sizes) Sizes {
	slices.Sort(sizes)
	return sizes
}
