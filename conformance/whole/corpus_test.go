package whole

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// hostile is one text of the corpus.
type hostile struct {
	kind string
	// literal is the text as JSON, text what it stands for. What is refused before
	// it is stored (a lone surrogate, a NUL) has a literal alone.
	literal, text string
	refused       bool
	// sentences are what of the text would be read as a sentence of ours if it left
	// its quotes.
	sentences []string
}

// Each line is the kind, a tab and the text as a JSON string in ASCII.
//
//go:embed testdata/hostile.txt
var corpusFile string

func corpus(t *testing.T) []hostile {
	t.Helper()
	var all []hostile
	for line := range strings.Lines(corpusFile) {
		kind, literal, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		h := hostile{kind: kind, literal: literal, refused: kind == "lone surrogate" || kind == "nul"}
		if !ok || !h.refused && json.Unmarshal([]byte(literal), &h.text) != nil {
			t.Fatalf("not a line of the corpus: %.80s", line)
		}
		h.sentences = sentencesIn(h.text)
		all = append(all, h)
	}
	return all
}

// storable are the texts that can be stored.
func storable(t *testing.T) []hostile {
	t.Helper()
	var kept []hostile
	for _, h := range corpus(t) {
		if !h.refused {
			kept = append(kept, h)
		}
	}
	return kept
}

// String shows the text in a test's failure, where it must do no harm either.
func (h hostile) String() string { return fmt.Sprintf("%s %.90s", h.kind, h.literal) }

func TestCorpus(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, h := range corpus(t) {
		if seen[h.literal] || strings.ContainsFunc(h.literal, func(r rune) bool { return r > unicode.MaxASCII || r < ' ' }) {
			t.Errorf("%s is twice in the corpus or not plain ASCII", h)
		}
		seen[h.literal] = true
	}
	if len(seen) < 300 {
		t.Errorf("the corpus has %d texts, want 300", len(seen))
	}
}

// concealed finds a character that a reader does not see and a machine obeys: a
// control character other than tab and line break, what Unicode calls format
// characters (among them bidi marks, zero-width characters and tags), variation
// selectors without an emoji form, and letters without a shape. It is written
// anew here: the product's own idea of them is what is tested.
func concealed(text string) (rune, bool) {
	for _, r := range text {
		switch {
		case r == '\t' || r == '\n':
		case r == utf8.RuneError, r < 0x20, r >= 0x7F && r <= 0x9F,
			r == 0xAD, r == 0x61C, r == 0x180E, r >= 0x200B && r <= 0x200F, r >= 0x202A && r <= 0x202E, r >= 0x2060 && r <= 0x206F,
			r == 0xFEFF, r >= 0xFFF9 && r <= 0xFFFB, r >= 0xE0000 && r <= 0xE007F,
			r >= 0xFE00 && r <= 0xFE0E, r >= 0xE0100 && r <= 0xE01EF,
			r == 0x115F, r == 0x1160, r == 0x3164, r == 0xFFA0, unicode.Is(unicode.Cf, r):
			if r != utf8.RuneError { // a text may hold U+FFFD itself
				return r, true
			}
		}
	}
	return 0, false
}

// sentencesIn is what stands in a text between the marks that we quote with, where
// it is long enough to be told from a word of ours.
func sentencesIn(text string) []string {
	const shortest, longest = 10, 30
	marks := func(r rune) bool {
		return strings.ContainsRune("`\"\n\r\t", r) || unicode.Is(unicode.Cf, r) || unicode.IsControl(r)
	}
	var long []string
	for piece := range strings.FieldsFuncSeq(text, marks) {
		words := strings.Fields(piece)
		if runes := []rune(strings.Join(words, " ")); len(words) > 1 && len(runes) >= shortest || len(runes) > longest {
			long = append(long, string(runes[:min(len(runes), longest)]))
		}
	}
	return long
}
