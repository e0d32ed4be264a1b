package whole

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode"
)

// hostile is a malicious test text from the file testdata/hostile.txt.
type hostile struct {
	kind   string
	number int // index of the text in a test; makes names of objects unique
	// literal is the text as JSON, and text is its value. A text that must be refused, such
	// as a lone surrogate or a NUL, has a literal only.
	literal, text string
	refused       bool
	// sentences has the parts of the text that could be taken for the product's own
	// sentences if they were not quoted.
	sentences []string
}

// corpusFile has the texts with which the tests attack the product. Each line is the kind
// of attack, a tab and the text as a JSON string in ASCII.
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

// storable returns the hostile texts that the databases can store. It adds texts that
// together contain every concealed character: one that people do not see and programs
// interpret.
func storable(t *testing.T) []hostile {
	t.Helper()
	var kept []hostile
	for _, h := range corpus(t) {
		if !h.refused {
			kept = append(kept, h)
		}
	}
	return append(kept, concealedTexts()...)
}

// String returns the kind and the JSON of the text in ASCII, which is safe to print.
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

// sentencesIn splits a text at quotation marks and control characters. It returns the parts
// that are too long to be ordinary words.
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
