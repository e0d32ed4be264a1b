package arrivals

import (
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/mailhelm/mailhelm/core/domainauth/report"
	"pgregory.net/rapid"
)

// FuzzContent reads arbitrary objects as mails and as files. Attackers choose all of it.
func FuzzContent(f *testing.F) {
	for _, seed := range []string{
		"", "From: a@b\r\n\r\n<feedback>", "Content-Type: text/plain\nContent-Transfer-Encoding: base64\n\nPGZlZWRiYWNrPg==",
		"Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: application/gzip\n\n\x1f\x8b\n--b--", "Content-Transfer-Encoding: quoted-printable\n\n=3Cfeedback=3E",
		"<feedback><report_metadata><org_name>a</org_name></report_metadata><policy_published><domain>example.com</domain></policy_published></feedback>", "PK\x03\x04", "H4sIAAAA",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if whole, ok := wholeOf(raw); ok && len(whole) > len(raw) {
			t.Errorf("%d bytes of a mail with %d", len(whole), len(raw))
		}
		_ = textOf(raw)
		parts := partsOfMail(raw)
		if len(parts) == 0 || len(parts) > maxParts {
			t.Errorf("%d parts", len(parts))
		}
		for _, open := range append(parts, reading(raw)) {
			body, err := open()
			if err != nil {
				t.Fatal(err)
			}
			reporters, err := reportersOf(body, "example.com", func(r *report.Report) string { return r.Org })
			if err != nil {
				t.Errorf("content became an error: %v", err)
			}
			for _, reporter := range reporters {
				if strings.ContainsRune(reporter, 0) {
					t.Errorf("reporter %q", reporter)
				}
			}
		}
	})
}

// TestWholeMessages encodes drawn content as the only part of a mail, and must get it back.
func TestWholeMessages(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		content := rapid.SliceOf(rapid.Byte()).Draw(t, "content")
		kind := rapid.SampledFrom([]string{"application/gzip", "text/plain", "text/plain; charset=iso-8859-1", "wrong", ""}).Draw(t, "type")
		var raw bytes.Buffer
		raw.WriteString("From: a@b.example\r\nContent-Type: " + kind + "\r\nContent-Transfer-Encoding: Base64\r\n\r\n")
		for encoded := base64.StdEncoding.EncodeToString(content); encoded != ""; {
			n := min(76, len(encoded))
			raw.WriteString(encoded[:n] + "\r\n")
			encoded = encoded[n:]
		}
		if got := textOf(raw.Bytes()); !bytes.Equal(got, content) {
			t.Errorf("got %q, want %q", got, content)
		}
	})
}

// TestReadersThatFail reads a file whose storage fails at some place. That is never a verdict about
// the file.
func TestReadersThatFail(t *testing.T) {
	t.Parallel()
	failure := errors.New("the bucket does not answer")
	for name, content := range map[string]string{
		"before the first byte": "", "within the element": "<feedback><report_", "after a report": "<feedback></feedback>", "in a zip file": "PK\x03\x04abc", "in a gzip file": "\x1f\x8b\x08",
		"in base64": "PGZlZWRiYWNr",
	} {
		file := io.MultiReader(strings.NewReader(content), iotest.ErrReader(failure))
		if _, err := reportersOf(file, "example.com", func(*report.Report) string { return "" }); !errors.Is(err, failure) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
