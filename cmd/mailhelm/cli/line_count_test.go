package cli

import "testing"

func TestLinesAreNamed(t *testing.T) {
	t.Parallel()
	for want, got := range map[string]string{
		"0":                   LineCount(0, nil),
		"1 (line 7)":          LineCount(1, []int{7}),
		"2 (lines 1, 2)":      LineCount(2, []int{1, 2}),
		"9 (lines 1, 2, ...)": LineCount(9, []int{1, 2}),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
