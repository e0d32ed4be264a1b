package notices

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestOutside checks how texts of outsiders look in mails.
func TestOutside(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"SendGrid":                              "SendGrid",
		"mail.Evil.example":                     "mail[.]evil[.]example",
		"bücher.example":                        "xn--bcher-kva[.]example",
		"shop.bakery.example, bakery.example":   "shop.bakery.example, bakery.example",
		"evil.example?x.bakery.example":         "evil[.]example?x[.]bakery[.]example",
		"xbakery.example":                       "xbakery[.]example",
		"192.0.2.1: 91.5 % failed.":             "192.0.2.1: 91.5 % failed.",
		"2001:db8::1":                           "2001 db8  1",
		"https://evil.example:8443/a?b=c":       "https: evil[.]example 8443 a?b=c",
		"me@evil.example <you@evil.example>":    "me evil[.]example you evil[.]example",
		"evil。example":                          "evil[.]example",
		"a\r\nb\u2028c\u202ed":                  "a b cd",
		"(www.evil.example).":                   "(www[.]evil[.]example).",
		"mailto:me":                             "mailto me",
		"..":                                    "..",
		strings.Repeat("a", longestName) + "bc": strings.Repeat("a", longestName-1) + "…",
	} {
		if got := (&mail{}).name(text, "bakery.example"); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// linked matches what mail programs make links of.
var linked = regexp.MustCompile(`://|@|\pL\.\pL|\pL\.\pN|\n|\r`)

// FuzzOutside checks that no text of an outsider has a link or a second line.
func FuzzOutside(f *testing.F) {
	for _, text := range []string{"a.b", "https://a.b:1/c", "a@b.c", "ä.b", "evil。example", "a..b", "?.a.b", "a.b.bakery.test/x"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		m := &mail{}
		got := m.name(text, "never.invalid")
		if found := linked.FindString(got); found != "" && !strings.Contains(got, "never.invalid") {
			t.Errorf("%q: %q has %q", text, got, found)
		}
		if utf8.RuneCountInString(got) > 10*longestName {
			t.Errorf("%q: %d characters", text, utf8.RuneCountInString(got))
		}
	})
}
