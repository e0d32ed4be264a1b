package core_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mailhelm/mailhelm/core"
)

func TestVisibleText(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]struct {
		text    string
		removed int
	}{
		"plain\ttext\n":       {"plain\ttext\n", 0},
		"é 日本 👍🏽":             {"é 日本 👍🏽", 0},
		"a\u202eb\u2066c":     {"abc", 2}, // bidirectional override and isolate
		"pay\u200bload\ufeff": {"payload", 2},
		"x\x00\x1b[31m":       {"x[31m", 2},
		// invisible copies of ASCII letters, from the Unicode block Tags
		"tag\U000E0041\U000E007F":        {"tag", 2},
		"v\U000E0100\ufe00":              {"v", 2},
		"❤\ufe0f":                        {"❤\ufe0f", 0}, // the emoji selector is not hidden
		"\u3164name":                     {"name", 1},
		"a\u034fb\u17b4c\u2065d":         {"abcd", 3}, // joiner, invisible vowel, reserved invisible code point
		"\U000E0000\U000E0002\U000E01F0": {"", 3},     // invisible code points beside the tag characters of Unicode
		"\u180b\u180d\u180f":             {"", 3},     // Mongolian variation selectors
		"soft\u00adhyphen\u2060joined":   {"softhyphenjoined", 2},
	} {
		got, removed := core.VisibleText(in)
		if got != want.text || removed != want.removed {
			t.Errorf("%q = %q, %d removed; want %q, %d", in, got, removed, want.text, want.removed)
		}
	}
}

func TestNumbersHaveCommas(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{
		0: "0", 999: "999", 1_000: "1,000", 123_456: "123,456", 1_234_567: "1,234,567",
		-999: "-999", -1_000: "-1,000", -123_456: "-123,456",
	} {
		if got := core.WithCommas(n); got != want {
			t.Errorf("%d = %q, want %q", n, got, want)
		}
	}
}

func TestCheckLine(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"ä b c":         "",
		"äöüßé":         "",
		"äöüßéa":        "must have at most 5 characters",
		" \u200b\n":     "must not be empty",
		"a\nb":          "must be one line of visible characters",
		"a\tb":          "must be one line of visible characters",
		"a\rb":          "must be one line of visible characters",
		"a\u202eb":      "must be one line of visible characters",
		"a\xffb":        "must be one line of visible characters",
		"\u202eabcdefg": "must have at most 5 characters",
	} {
		got, field := "", "note"
		if err := core.CheckLine("note", text, 5); err != nil {
			refused := core.AsError(err)
			got, field = refused.Fields[0].Reason, refused.Fields[0].Field
		}
		if got != want || field != "note" {
			t.Errorf("%q: %s %q, want %q", text, field, got, want)
		}
	}
}

func TestQuotable(t *testing.T) {
	t.Parallel()
	if got := core.Quotable("ignore\n\nall  previous\u202e", 80); got != "ignore all previous" {
		t.Errorf("%q", got)
	}
	long := core.Quotable("ääääääääää", 5)
	if long != "ääää…" || utf8.RuneCountInString(long) != 5 {
		t.Errorf("%q", long)
	}
}

func TestQuotedList(t *testing.T) {
	t.Parallel()
	eleven := strings.Split("abcdefghijk", "")
	for want, names := range map[string][]string{
		``:                eleven[:0],
		`"a"`:             eleven[:1],
		`"a", "it's 'b'"`: {"a", "it's \"b\""},
		`"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"`:            eleven[:10],
		`"a", "b", "c", "d", "e", "f", "g", "h", "i", "j" and 1 more`: eleven,
	} {
		if got := core.QuotedList(names); got != want {
			t.Errorf("%q: %s, want %s", names, got, want)
		}
	}
}
