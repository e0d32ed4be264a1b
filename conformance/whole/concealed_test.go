package whole

import (
	"encoding/json"
	"slices"
	"testing"
	"unicode/utf8"

	"github.com/mailhelm/mailhelm/core"
)

// concealedRanges has the characters that people do not see and programs interpret, from
// the Unicode character database (version 15). The table is independent of the product's
// own table, which it tests. Tab, line feed and U+FE0F after an emoji are not concealed.
var concealedRanges = []struct {
	first, last rune
	what        string
}{
	{0x0000, 0x0008, "C0 controls"},
	{0x000B, 0x001F, "C0 controls"},
	{0x007F, 0x009F, "delete and C1 controls"},
	{0x00AD, 0x00AD, "soft hyphen"},
	{0x034F, 0x034F, "combining grapheme joiner"},
	{0x0600, 0x0605, "Arabic number signs, format characters"},
	{0x061C, 0x061C, "Arabic letter mark, a bidi control"},
	{0x06DD, 0x06DD, "Arabic end of ayah, a format character"},
	{0x070F, 0x070F, "Syriac abbreviation mark, a format character"},
	{0x0890, 0x0891, "Arabic pound and piastre marks, format characters"},
	{0x08E2, 0x08E2, "Arabic disputed end of ayah, a format character"},
	{0x115F, 0x1160, "Hangul fillers"},
	{0x17B4, 0x17B5, "Khmer vowels without a shape"},
	{0x180B, 0x180F, "Mongolian variation selectors and vowel separator"},
	{0x200B, 0x200F, "zero-width characters and bidi marks"},
	{0x202A, 0x202E, "bidi embeddings and overrides"},
	{0x2060, 0x206F, "word joiner, invisible operators, bidi isolates"},
	{0x3164, 0x3164, "Hangul filler"},
	{0xFE00, 0xFE0E, "variation selectors"},
	{0xFEFF, 0xFEFF, "byte order mark"},
	{0xFFA0, 0xFFA0, "halfwidth Hangul filler"},
	{0xFFF0, 0xFFFB, "default-ignorable, and interlinear annotation"},
	{0x110BD, 0x110BD, "Kaithi number sign, a format character"},
	{0x110CD, 0x110CD, "Kaithi number sign above, a format character"},
	{0x13430, 0x1343F, "Egyptian hieroglyph format controls"},
	{0x1BCA0, 0x1BCA3, "shorthand format controls"},
	{0x1D173, 0x1D17A, "musical format controls"},
	{0xE0000, 0xE0FFF, "tags, variation selectors, and what is kept for more"},
}

func isConcealed(r rune) bool {
	for _, of := range concealedRanges {
		if of.first <= r && r <= of.last {
			return true
		}
	}
	return false
}

// findConcealed returns the first concealed character of text, and false if it has none.
func findConcealed(text string) (rune, bool) {
	for _, r := range text {
		if isConcealed(r) {
			return r, true
		}
	}
	return 0, false
}

// concealedTexts returns texts that together have every concealed character that can be
// stored, each between letters. Each text has as many as fit into a short name.
func concealedTexts() []hostile {
	var all []rune
	for _, of := range concealedRanges {
		for r := max(of.first, 1); r <= of.last; r++ {
			all = append(all, r)
		}
	}
	var texts []hostile
	for some := range slices.Chunk(all, longestTopic-2) {
		text := "a" + string(some) + "b"
		literal, err := json.Marshal(text)
		if err != nil {
			continue // a string always marshals
		}
		texts = append(texts, hostile{kind: "concealed", literal: string(literal), text: text, sentences: sentencesIn(text)})
	}
	return texts
}

// TestNoConcealedCharacterIsVisibleText checks that core.VisibleText removes all concealed
// characters and no others.
func TestNoConcealedCharacterIsVisibleText(t *testing.T) {
	t.Parallel()
	for r := range rune(utf8.MaxRune + 1) {
		if !utf8.ValidRune(r) {
			continue
		}
		if _, removed := core.VisibleText(string(r)); (removed == 1) != isConcealed(r) {
			t.Errorf("%U: removed %d, concealed %v", r, removed, isConcealed(r))
		}
	}
	count := 0
	for _, h := range concealedTexts() {
		visible, removed := core.VisibleText(h.text)
		count += removed
		if visible != "ab" {
			t.Errorf("%s is seen as %.60q", h, visible)
		}
	}
	if count < 4200 {
		t.Errorf("the texts hold only %d concealed characters", count)
	}
}
