package sources

import (
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core/mailauth/dmarc"
	"pgregory.net/rapid"
)

// TestNormal compares the short way for names in normal form with the rules of DMARC.
func TestNormal(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 63)
	texts := []string{
		"a", "a.b", "a-b.c", "_dmarc.a", "-a.b", "a-.b", "a.b-", "a.-b", "a..b", ".a", "a.", "A.b", "a b", " a", "é.b", "xn--a.b", "\xff", ".", "-",
		long, long + "a", long + ".b", "b." + long + "a", strings.Repeat(long+".", 3) + long[:61], strings.Repeat(long+".", 3) + long[:62],
	}
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.OneOf(rapid.SampledFrom(texts), rapid.StringMatching(`[a-cA-C0-1._-]{1,8}`)).Draw(t, "name")
		want, _ := dmarc.Name(strings.TrimSpace(name))
		if got := normal(name); got != want {
			t.Fatalf("%q is %q, want %q", name, got, want)
		}
		if isNormal(name) != (want == name) {
			t.Fatalf("%q: in normal form %t", name, isNormal(name))
		}
	})
	for _, name := range texts {
		if want, _ := dmarc.Name(strings.TrimSpace(name)); normal(name) != want || isNormal(name) != (want == name) {
			t.Errorf("%q is %q, want %q", name, normal(name), want)
		}
	}
}
