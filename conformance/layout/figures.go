package layout

import (
	"go/ast"
	"slices"
	"strings"
)

// Sizes is a list of numbers of lines, in ascending order.
type Sizes []int

// At returns a quantile of the list: At(0.5) is the median and At(1) the maximum. share is
// from 0 to 1. For an empty list it returns 0.
func (s Sizes) At(share float64) int {
	if len(s) == 0 {
		return 0
	}
	return s[min(len(s)-1, int(share*float64(len(s))))]
}

// Function is a function or method with its length in lines, from "func" to the last brace.
type Function struct {
	// Name is the function's name, without the receiver. Position is its file and line, such
	// as "core/op.go:12".
	Name, Position string
	Lines          int
}

// Functions returns the functions and methods that the file declares. A function literal
// counts as part of the function around it.
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

// CommentShare returns the share, from 0 to 1, of comment lines in the lines that are not
// blank. A line with code and a comment counts as code.
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
