package core_test

import (
	"net/mail"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core"
)

func TestIsEmail(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]bool{
		"a@b": true, "ann+tag@example.com": true, "o'brien@example.com": true, "a.b-c_d@x.co.uk": true, "{a}|~@xn--mnchen-3ya.de": true,
		strings.Repeat("a", 64) + "@example.com": true, strings.Repeat("a", 65) + "@example.com": false,
		"a@" + strings.Repeat("b", 63) + ".com": true, "a@" + strings.Repeat("b", 64) + ".com": false,
		"a@" + strings.Repeat("b.", 126) + "c": false,
		"":                                     false, "a": false, "@b": false, "a@": false, "a@@b": false, "a@b@c": false, ".a@b": false, "a.@b": false, "a..b@c": false,
		`"a b"@c`: false, "a@[127.0.0.1]": false, "a b@c": false, "a@b c": false, "a@b\r\nBcc: x": false, "é@b": false, "a@é": false,
		"a@-b": false, "a@b-": false, "a@b..c": false, "a@b.": false, "a\u200b@b": false, "a\x00@b": false,
	} {
		if got := core.IsEmail(address); got != want {
			t.Errorf("%q: %v", address, got)
		}
	}
}

// FuzzIsEmail: what passes is an address to a parser that is not ours, and holds
// nothing that could end a line or a quoted text.
func FuzzIsEmail(f *testing.F) {
	for _, seed := range []string{"ann@example.com", `"x"@y`, "a@b\n", "<a@b>", "a@b,c@d"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if !core.IsEmail(s) {
			return
		}
		parsed, err := mail.ParseAddress(s)
		if err != nil || parsed.Address != s || strings.ContainsAny(s, " \t\r\n\"\\<>(),;:") {
			t.Fatalf("%q passed: %v, %v", s, parsed, err)
		}
	})
}
