package admin

import "testing"

func TestTemplateWords(t *testing.T) {
	t.Parallel()
	for version, words := range map[int]string{0: "none recorded; 13 is the newest", 12: "12 of 13"} {
		if got := templateWords(version, 13); got != words {
			t.Errorf("version %d: %q", version, got)
		}
	}
}
