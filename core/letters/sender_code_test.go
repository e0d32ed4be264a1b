package letters_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core/letters"
)

func TestSenderCode(t *testing.T) {
	t.Parallel()
	l := letters.SenderCode("box@example.com", "012345", "Fernhill Coffee Ltd.", "ada@acme.example")
	want := `ada@acme.example of the organization "Fernhill Coffee Ltd." wants to verify this address as a sender in Mailhelm.

If you want this too, enter this code where the address was entered. It works for 15 minutes:

012345

If you do not expect this mail, ignore it: without the code the address is not verified. Do not give the code to anyone.

This mail was sent to box@example.com because this address was entered in Mailhelm.
`
	if l.To != "box@example.com" || l.Text != want || strings.Contains(l.Subject, "012345") {
		t.Errorf("%q %q\n%s", l.To, l.Subject, l.Text)
	}
	if strings.Count(l.HTML, "012345") != 1 {
		t.Error(l.HTML)
	}
}

// link matches what mail programs make a link of.
var link = regexp.MustCompile(`(?i)https?:|www\.|\w\.\w|@|/`)

// TestNamesAreNoLinks checks that the name of an organization can neither be a link nor end
// its quotation or line.
func TestNamesAreNoLinks(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"https://evil.example/win", "www.evil.example", "evil.example", "ada@evil.example", `Acme" says: <a href=//evil.example>win</a>`,
		"Acme\n\nYou have won. Open evil.example", "evil。example", "javascript:alert(1)", strings.Repeat("evil.example/", 40),
	} {
		l := letters.SenderCode("box@example.com", "012345", name, "")
		first, _, _ := strings.Cut(l.Text, "\n\n")
		if found := link.FindString(first); found != "" {
			t.Errorf("%q: %q in %q", name, found, first)
		}
		if strings.Count(first, `"`) != 2 || !strings.HasPrefix(first, "An API key of the organization ") || strings.Contains(l.HTML, "<a") || strings.Contains(l.HTML, "evil.example") {
			t.Errorf("%q:\n%s\n%s", name, l.Text, l.HTML)
		}
	}
}
