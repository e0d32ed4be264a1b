package layout

import "testing"

// TestFigures fails if a file has more than maxFileLines lines or a function more than
// maxFunctionLines. The medians, which the test prints, are far lower.
const (
	maxFileLines     = 500
	maxFunctionLines = 70
	// minTestShare is the minimum number of lines of test code for each line of other code.
	// The usual value is about 1.
	minTestShare = 0.7
)

// TestFigures prints the sizes of files and functions for "make figures". It fails if a
// file or function is longer than allowed, also in tests, or if there are too few lines of
// tests.
func TestFigures(t *testing.T) {
	t.Parallel()
	var files, functions Sizes
	var code []Source
	codeLines, testLines := 0, 0
	for _, s := range repository(t).Sources {
		if n := s.Lines(); n > maxFileLines {
			t.Errorf("%s has %d lines, at most %d are allowed", s.Path, n, maxFileLines)
		}
		for _, f := range s.Functions() {
			if f.Lines > maxFunctionLines {
				t.Errorf("%s: %s has %d lines, at most %d are allowed", f.Position, f.Name, f.Lines, maxFunctionLines)
			}
			if !s.IsTest() {
				functions = append(functions, f.Lines)
			}
		}
		if s.IsTest() {
			testLines += s.Lines()
			continue
		}
		code = append(code, s)
		codeLines += s.Lines()
		files = append(files, s.Lines())
	}
	sortSizes(files)
	sortSizes(functions)
	t.Logf("files:     %d, lines median %d, p90 %d, max %d", len(files), files.At(0.5), files.At(0.9), files.At(1))
	t.Logf("functions: %d, lines median %d, p90 %d, max %d", len(functions), functions.At(0.5), functions.At(0.9), functions.At(1))
	t.Logf("comments:  %.0f %% of the lines written", 100*CommentShare(code))
	share := float64(testLines) / float64(codeLines)
	t.Logf("tests:     %d lines to %d of code, %.2f to 1", testLines, codeLines, share)
	if share < minTestShare {
		t.Errorf("there are %.2f lines of tests to one of code, at least %.1f are wanted", share, minTestShare)
	}
}

func TestSizesAt(t *testing.T) {
	t.Parallel()
	s := sortSizes(Sizes{5, 1, 4, 2, 3})
	if s.At(0.5) != 3 || s.At(0.9) != 5 || s.At(1) != 5 || (Sizes{}).At(0.5) != 0 {
		t.Errorf("At(0.5) = %d, At(0.9) = %d, At(1) = %d, want 3, 5, 5", s.At(0.5), s.At(0.9), s.At(1))
	}
}
