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

func TestCanonicalEmail(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"Ann+tag@Example.com": "Ann+tag@Example.com", "ann@bücher.example": "ann@xn--bcher-kva.example",
		"ANN@BÜCHER.example": "ANN@xn--bcher-kva.example", "ann@bu\u0308cher.example": "ann@xn--bcher-kva.example",
		"ann@faß.de": "ann@xn--fa-hia.de", "ann@例え。テスト": "ann@xn--r8jz45g.xn--zckzah", "ann@xn--bcher-kva.example": "ann@xn--bcher-kva.example",
		"bücher@example.com": "", "ann@bü cher.example": "", "ann@-bü.example": "", "ann@bü..example": "", "ann@": "", "ann": "", "": "",
		"ann@\u200d.example": "", "ann@a\u200b\u00fc\u0000.example": "", "ann@" + strings.Repeat("ü", 64) + ".example": "",
		"ann@ü.example\r\nBcc: x": "", "ann@" + strings.Repeat("ü.", 10_000): "", "ann@\xff\xfe": "",
	} {
		got, ok := core.CanonicalEmail(address)
		if ok != (want != "") || ok && got != want {
			t.Errorf("%.80q: %q, %t, want %q", address, got, ok, want)
		}
	}
}

// FuzzCanonicalEmail checks that an accepted address is ASCII and already in canonical
// form.
func FuzzCanonicalEmail(f *testing.F) {
	for _, seed := range []string{"ann@example.com", "ann@bücher.example", "ann@例え。テスト", "a@ß\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		canonical, ok := core.CanonicalEmail(s)
		if !ok {
			return
		}
		if again, ok := core.CanonicalEmail(canonical); !ok || again != canonical || !core.IsEmail(canonical) {
			t.Fatalf("%q became %q, and that %q, %t", s, canonical, again, ok)
		}
	})
}

// FuzzIsEmail checks that net/mail parses every accepted address, and that none contains
// a line break or a quotation mark.
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
