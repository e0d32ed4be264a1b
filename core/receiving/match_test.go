package receiving_test

import (
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/mailhelm/mailhelm/core/receiving"
)

func TestMatch(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern, text string
		want          bool
	}{
		{"support", "support", true},
		{"support", "supports", false},
		{"support", "", false},
		{"", "", true},
		{"*", "", true},
		{"*", "anything.at+all", true},
		{"support-*", "support-", true},
		{"support-*", "support-42", true},
		{"support-*", "xsupport-42", false},
		{"*-de", "support-de", true},
		{"*-de", "support-de-x", false},
		{"a*b*c", "abbbcc", true},
		{"a*b*c", "abbbccd", false},
		{"t?st", "test", true},
		{"t?st", "tst", false},
		{"t?st", "tüst", true},
		{"?", "", false},
		{"[ab]", "a", false}, // only * and ? are special
		{`a\*`, "a*", false},
		{"a.c", "abc", false},
		{"**?**", "x", true},
		{"**?**", "", false},
	} {
		if got := receiving.Match(c.pattern, c.text); got != c.want {
			t.Errorf("%q against %q: %v", c.pattern, c.text, got)
		}
	}
}

// TestMatchIsFast checks a pattern with which a matcher that tries every * again takes 2^30
// steps or more.
func TestMatchIsFast(t *testing.T) {
	t.Parallel()
	done := make(chan bool, 1)
	go func() { done <- receiving.Match(strings.Repeat("a*", 32)+"b", strings.Repeat("a", 10_000)) }()
	select {
	case matched := <-done:
		if matched {
			t.Error("matched")
		}
	case <-time.After(time.Minute):
		t.Fatal("no answer within a minute")
	}
}

// FuzzMatch compares the matcher with a regular expression.
func FuzzMatch(f *testing.F) {
	for _, seed := range [][2]string{{"a*b", "ab"}, {"?*", "ü"}, {"*a*a*", "aaa"}, {"x", "y"}, {"\xff*", "\xff"}} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, pattern, text string) {
		if !utf8.ValidString(pattern) || !utf8.ValidString(text) || len(pattern) > 200 || len(text) > 500 {
			receiving.Match(pattern, text) // must end and not panic
			return
		}
		quoted := strings.NewReplacer(`\*`, `.*`, `\?`, `.`).Replace(regexp.QuoteMeta(pattern))
		expression, err := regexp.Compile(`(?s)\A` + quoted + `\z`)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := receiving.Match(pattern, text), expression.MatchString(text); got != want {
			t.Errorf("%q against %q: %v, want %v", pattern, text, got, want)
		}
	})
}
