package frame_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

func TestWrapped(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                        "",
		"ada@example.com":                         "ada@example.com",
		"stfj1l1mgg@inbox.localhost":              "stfj1l1mgg@|inbox.|localhost",
		"Ada  Lovelace <ada@mail.acme.com>":       "Ada  Lovelace <ada@|mail.|acme.|com>",
		"bounces+a_b=c@lists.acme.test":           "bounces+|a_|b=|c@|lists.|acme.|test",
		"k2fz._domainkey.acme.test.":              "k2fz._|domainkey.|acme.|test.",
		"https://acme.test/confirm?token=a_b":     "https://|acme.|test/|confirm?token=|a_|b",
		"<script>alert(1)</script>example.x":      "<script>alert(1)</script>example.x",
		"Donaudampfschifffahrtsgesellschaft":      "Donaudampfschifffahrtsgesellschaft",
		"10 inbound-smtp.us-east-1.amazonaws.com": "10 inbound-smtp.|us-east-1.|amazonaws.|com",
		"@@@@@@@@@@@@@@@@@@":                      "@@@@@@@@@@@@@@@@@@",
	} {
		var words []string
		for _, word := range frame.Wrapped(text).Words() {
			words = append(words, strings.Join(word.Parts, "|"))
		}
		if diff := cmp.Diff(want, strings.Join(words, " ")); diff != "" {
			t.Errorf("%q (want, got):\n%s", text, diff)
		}
	}
}

// FuzzWrapped checks that no character of a text is lost.
func FuzzWrapped(f *testing.F) {
	f.Add("Ada <ada@mail.acme.com>")
	f.Fuzz(func(t *testing.T, text string) {
		var words []string
		for _, word := range frame.Wrapped(text).Words() {
			if len(word.Parts) == 0 {
				t.Fatalf("%q: a word without parts", text)
			}
			words = append(words, strings.Join(word.Parts, ""))
		}
		if got := strings.Join(words, " "); got != text {
			t.Errorf("%q became %q", text, got)
		}
	})
}
