package languageserver

import (
	"testing"
	"unicode/utf16"

	"pgregory.net/rapid"
)

// TestPositions checks for random texts that offsets and positions correspond, and that
// characters are UTF-16 code units.
func TestPositions(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := string(rapid.SliceOf(rapid.SampledFrom([]rune("a \n\r\té語😀𝄞"))).Draw(t, "text"))
		line, units, column := 0, 0, 1
		for at, r := range text {
			want := position{line, units}
			if got := positionAt(text, at); got != want {
				t.Fatalf("the offset %d of %q has the position %+v, want %+v", at, text, got, want)
			}
			if got := offsetAt(text, want); got != at {
				t.Fatalf("the position %+v of %q has the offset %d, want %d", want, text, got, at)
			}
			if got := offsetOf(text, line+1, column); got != at {
				t.Fatalf("line %d and column %d of %q have the offset %d, want %d", line+1, column, text, got, at)
			}
			units += len(utf16.Encode([]rune{r}))
			column++
			if r == '\n' {
				line, units, column = line+1, 0, 1
			}
		}
		if got := offsetAt(text, position{line + 5, 3}); got != len(text) {
			t.Fatalf("a position after %q has the offset %d", text, got)
		}
	})
	if got := offsetAt("ab\ncd", position{0, 9}); got != 2 {
		t.Errorf("a position after its line has the offset %d", got)
	}
}
