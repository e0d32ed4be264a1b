package editors

import (
	"encoding/json"
	"flag"
	"regexp"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core/goldentest"
	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/workflows/grammar"
	"github.com/mailhelm/mailhelm/core/workflows/language/languagetest"
	"pgregory.net/rapid"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestGoldenTextMate compares the grammar with its file, so that a new keyword of the
// language fails until the file has it.
func TestGoldenTextMate(t *testing.T) {
	t.Parallel()
	want, err := generate()
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := goldentest.Write("workflow.tmLanguage.json", []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if TextMate != want {
		t.Error("workflow.tmLanguage.json differs; -update writes it anew")
	}
}

// compiled is a pattern of the file.
type compiled struct {
	name  string
	match *regexp.Regexp
}

// read compiles the patterns of the file.
func read(t testing.TB) []compiled {
	t.Helper()
	var file struct {
		Patterns []pattern `json:"patterns"`
	}
	if err := json.Unmarshal([]byte(TextMate), &file); err != nil {
		t.Fatal(err)
	}
	var all []compiled
	for _, p := range file.Patterns {
		all = append(all, compiled{p.Name, regexp.MustCompile(p.Match)})
	}
	return all
}

// stretch is a part of a line with its scope.
type stretch struct {
	start, end int
	scope      string
}

// stretches divides a line as an editor does: the earliest match from the end of the last
// one, and among those at the same place the first pattern.
func stretches(patterns []compiled, line string) []stretch {
	var all []stretch
	for at := 0; at < len(line); {
		next := stretch{start: len(line), end: len(line)}
		for _, p := range patterns {
			for _, found := range p.match.FindAllStringIndex(line, -1) {
				if found[0] >= at && found[0] < next.start && found[1] > found[0] {
					next = stretch{found[0], found[1], p.name}
				}
			}
		}
		all = append(all, next)
		at = next.end
	}
	return all
}

// scopeAt returns the scope of the token at an offset of a line, "" if it has none.
func scopeAt(line []stretch, offset int) string {
	for _, s := range line {
		if s.start <= offset && offset < s.end {
			return s.scope
		}
	}
	return ""
}

// TestEachTokenHasItsScope checks for random workflows that each token has the colour of its
// kind.
func TestEachTokenHasItsScope(t *testing.T) {
	t.Parallel()
	patterns := read(t)
	prefixes := map[predicate.TokenKind]string{
		predicate.AttributeToken: "variable.other.attribute", predicate.ActivityToken: "entity.name.function", predicate.StringToken: "string",
		predicate.NumberToken: "constant", predicate.DateToken: "constant.other.date",
	}
	rapid.Check(t, func(t *rapid.T) {
		text := languagetest.Source(t)
		lines := map[int][]stretch{} // by the offset of the line
		for at := 0; ; {
			token := predicate.TokenAt(text, at)
			if token.Kind == predicate.EndToken {
				break
			}
			at = token.End
			if token.Is("news") { // a topic without quotes
				continue
			}
			start := strings.LastIndexByte(text[:token.Start], '\n') + 1
			line, _, _ := strings.Cut(text[start:], "\n")
			if lines[start] == nil {
				lines[start] = stretches(patterns, line)
			}
			got := scopeAt(lines[start], token.Start-start)
			if want := prefixes[token.Kind]; got == "" || !strings.HasPrefix(got, want) {
				t.Fatalf("%q in %q has the scope %q, want %q", text[token.Start:token.End], line, got, want)
			}
			if token.Kind == predicate.WordToken && !strings.HasPrefix(got, "keyword") && !strings.HasPrefix(got, "constant.language") && !strings.HasPrefix(got, "support") {
				t.Fatalf("the word %q in %q has the scope %q", token.Text, line, got)
			}
		}
	})
}

// TestKeywordsHaveOneScope checks that each keyword is coloured, and that other words are not.
func TestKeywordsHaveOneScope(t *testing.T) {
	t.Parallel()
	patterns := read(t)
	for _, word := range grammar.Keywords() {
		if scopeAt(stretches(patterns, word), 0) == "" {
			t.Errorf("the keyword %q has no scope", word)
		}
	}
	for line, want := range map[string]string{"welcome": "", "sender": "", "# send": "comment", "// send": "comment", `"send`: "string", "in": "keyword", "true": "constant.language", "opened": "", "count": "support.function"} {
		if got := scopeAt(stretches(patterns, line), 0); !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%q has the scope %q, want %q", line, got, want)
		}
	}
}
