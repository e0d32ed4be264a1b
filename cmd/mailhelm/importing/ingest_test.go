package importing

import "testing"

func TestLinesAreNamed(t *testing.T) {
	t.Parallel()
	for want, got := range map[string]string{
		"0":                   lineCount(0, nil),
		"1 (line 7)":          lineCount(1, []int{7}),
		"2 (lines 1, 2)":      lineCount(2, []int{1, 2}),
		"9 (lines 1, 2, ...)": lineCount(9, []int{1, 2}),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
