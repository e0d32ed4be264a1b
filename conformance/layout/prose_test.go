package layout

import (
	"slices"
	"strings"
	"testing"
)

// maxStockWords is the maximum number of vague words (see stockWords) in the repository. A
// change that removes some lowers it. Do not raise it.
const maxStockWords = 150

// TestStockWords fails if the comments and texts of the repository contain more vague words
// than maxStockWords. With -v it prints each of them with file and line.
func TestStockWords(t *testing.T) {
	t.Parallel()
	found, err := repository(t).StockWords()
	if err != nil {
		t.Fatal(err)
	}
	if testing.Verbose() {
		for _, w := range found {
			t.Logf("%s:%d: %q", w.Path, w.Line, w.Phrase)
		}
	}
	t.Logf("%d stock words", len(found))
	if len(found) > maxStockWords {
		t.Errorf("the repository holds %d stock words, at most %d are allowed. Run this test with -v, and name the actor and the thing", len(found), maxStockWords)
	}
}

func TestStockWordsIn(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"Nobody waits. Whoever calls":           {"nobody", "whoever"},
		"what\n became of it":                   {"what became of"},
		"a text that is none yet, none that is": {"that is none", "none that"},
		"those that\nthere are":                 {"those that there are"},
		"The caller is told so":                 {"is told"},
		"nobody@example.com has none":           nil,
		"beside the nonetheless untold":         nil,
	} {
		var phrases []string
		for _, w := range stockWordsIn("a.md", 1, text) {
			phrases = append(phrases, w.Phrase)
		}
		if !slices.Equal(phrases, want) {
			t.Errorf("%q holds %q, want %q", text, phrases, want)
		}
	}
	if found := stockWordsIn("a.md", 7, strings.Repeat("\n", 3)+"besides"); len(found) != 1 || found[0].Line != 10 {
		t.Errorf("a word four lines down is at %v, want line 10", found)
	}
}
