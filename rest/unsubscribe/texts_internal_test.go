package unsubscribe

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var nameInBraces = regexp.MustCompile(`\{[^}]*\}`)

// TestTextsAreComplete checks that each language has each text with the same names in braces,
// and that none is equal to the English text by mistake.
func TestTextsAreComplete(t *testing.T) {
	t.Parallel()
	all, err := parseTexts()
	if err != nil {
		t.Fatal(err)
	}
	if got := slices.Sorted(maps.Keys(all)); !cmp.Equal(got, []string{"de", "en", "es", "fr", "it", "nl", "pt"}) {
		t.Fatalf("languages %v", got)
	}
	english := all[fallback]
	for language, byKey := range all {
		if !cmp.Equal(slices.Sorted(maps.Keys(byKey)), slices.Sorted(maps.Keys(english))) {
			t.Errorf("%s has other keys", language)
		}
		for key, text := range byKey {
			if strings.TrimSpace(text) == "" || language != fallback && text == english[key] {
				t.Errorf("%s, %s: %q", language, key, text)
			}
			want, got := nameInBraces.FindAllString(english[key], -1), nameInBraces.FindAllString(text, -1)
			slices.Sort(want)
			slices.Sort(got)
			if !cmp.Equal(want, got) {
				t.Errorf("%s, %s: names %v, want %v", language, key, got, want)
			}
		}
	}
}

// TestUnknownNames checks that no text has a name in braces that nothing replaces.
func TestUnknownNames(t *testing.T) {
	t.Parallel()
	all, err := parseTexts()
	if err != nil {
		t.Fatal(err)
	}
	for key, text := range all[fallback] {
		for _, name := range nameInBraces.FindAllString(text, -1) {
			if !slices.Contains([]string{"{org}", "{topic}", "{email}"}, name) {
				t.Errorf("%s: %s", key, name)
			}
		}
	}
}
