package layout

import (
	"go/ast"
	"slices"
	"strings"
)

// Sizes is a list of lengths in lines, in ascending order.
type Sizes []int

// At returns the size at the given share of the sorted list: At(0.5) is the median, At(1)
// the maximum. share is from 0 to 1. It returns 0 for an empty list.
func (s Sizes) At(share float64) int {
	if len(s) == 0 {
		return 0
	}
	return s[min(len(s)-1, int(share*float64(len(s))))]
}

// Function is one function or method with its length from "func" to the last brace.
type Function struct {
	// Name has no receiver. Position is the file and the line, as "core/op.go:12".
	Name, Position string
	Lines          int
}

// Functions returns the functions and methods of the file. A function literal belongs to
// the function that contains it.
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

// CommentShare returns the share of comment lines among all lines that are not blank. A
// comment after code on the same line does not count.
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

// sortSizes sorts the sizes in place, as [Sizes.At] requires, and returns them.
func sortSizes(sizes Sizes) Sizes {
	slices.Sort(sizes)
	return sizes
}
