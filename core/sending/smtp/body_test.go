package smtp_test

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	message "github.com/emersion/go-message"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/smtp"
)

func TestBodiesAreEncodedOnlyIfTheyMustBe(t *testing.T) {
	t.Parallel()
	for body, encoded := range map[string]bool{
		"<p>Hello</p>\n\t<p>a = b</p>\r\n.\n":    false,
		strings.Repeat("x", 998) + "\nshort":     false,
		strings.Repeat("x", 999):                 true,
		"Grüße":                                  true,
		"white space \nat the end of a line":     true,
		"a tab\t\r\nat the end of a line":        true,
		"returns alone\rend lines":               false,
		"From the mountains\nto the sea":         true,
		"a line\nFrom the mountains":             true,
		"We come\n From the mountains, not From": false,
		"a\x00b":                                 true,
	} {
		for _, c := range []sending.Content{{Text: body}, {HTML: body}, {Text: "Hello", HTML: body}} {
			c.Subject = "Hello"
			data := composed(t, c)
			if got := strings.Contains(data, "Content-Transfer-Encoding: quoted-printable\r\n"); got != encoded {
				t.Errorf("%q is sent as\n%s\nwant it encoded: %v", body, data, encoded)
			}
		}
	}
}

// FuzzBodies checks that every body arrives as it was, with CRLF at the end of its lines,
// in lines that every server passes on.
func FuzzBodies(f *testing.F) {
	for _, seed := range []string{"Hello", "a\r\n.b\nFrom me\n \t\n", "ü\r\r\n\x00=3D=\n", strings.Repeat("a", 1200)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		if body == "" || !utf8.ValidString(body) {
			return
		}
		data := composed(t, sending.Content{Subject: "Hello", Text: body, HTML: body})
		for line := range strings.SplitSeq(data, "\r\n") {
			if len(line) > 998 || strings.ContainsAny(line, "\r\n\x00") || strings.ContainsFunc(line, func(r rune) bool { return r > '~' }) {
				t.Errorf("a line is %q", line)
			}
		}
		want := strings.NewReplacer("\r\n", "\r\n", "\r", "\r\n", "\n", "\r\n").Replace(body)
		e, err := message.Read(strings.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		parts := e.MultipartReader()
		for range 2 {
			part, err := parts.NextPart()
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(part.Body)
			if err != nil || !bytes.Equal(got, []byte(want)) {
				t.Errorf("%q arrives as %q, %v", want, got, err)
			}
		}
	})
}

func composed(t *testing.T, c sending.Content) string {
	t.Helper()
	m := receipt()
	m.Content = c
	data, err := smtp.Compose(m, time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	return data
}
