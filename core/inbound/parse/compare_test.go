package parse_test

import (
	"bytes"
	"fmt"
	"io"
	"mime"
	"net/mail"
	"strings"
	"testing"

	"github.com/emersion/go-message"
	_ "github.com/emersion/go-message/charset"
	messagemail "github.com/emersion/go-message/mail"
	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core/inbound/parse"
	"pgregory.net/rapid"
)

// TestAgainstGoMessage writes random valid messages with go-message, reads them with both,
// and compares every part.
func TestAgainstGoMessage(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		raw := drawMessage(t)
		c := parse.Bytes(raw, parse.Limits{})
		if len(c.Warnings) > 0 {
			t.Fatalf("warnings %v for\n%s", c.Warnings, raw)
		}
		want := readWithGoMessage(t, raw)
		got := summary{subject: c.Subject, from: c.From.Name + "|" + c.From.Address, text: c.TextBody, html: c.HTMLBody}
		got.fields = len(c.Headers)
		for i := range c.Attachments {
			a := &c.Attachments[i]
			content, err := io.ReadAll(a.Open())
			if err != nil || int64(len(content)) != a.Size {
				t.Fatalf("attachment of %d bytes: read %d, %v", a.Size, len(content), err)
			}
			got.files = append(got.files, fmt.Sprintf("%s|%s|%s", a.Filename, a.ContentType, content))
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(summary{})); diff != "" {
			t.Fatalf("go-message, ours:\n%s\nfor\n%s", diff, raw)
		}
	})
}

// summary is what both readers must find.
type summary struct {
	subject, from, text, html string
	files                     []string
	fields                    int
}

var (
	wordGen = rapid.StringMatching(`[A-Za-z0-9äöü日本é€.,!? ]{1,40}`)
	nameGen = rapid.StringMatching(`[a-zA-Z0-9äü日_-]{1,30}\.(pdf|png)`)
	textGen = rapid.StringMatching(`([A-Za-zäé日=._ -]{0,90}[a-z=.]\n){0,8}`)
)

// drawMessage writes a random message with go-message.
func drawMessage(t *rapid.T) []byte {
	var h messagemail.Header
	h.SetSubject(strings.TrimSpace(wordGen.Draw(t, "subject")))
	h.SetAddressList("From", []*messagemail.Address{{Name: strings.TrimSpace(wordGen.Draw(t, "name")), Address: "anna@example.org"}})
	h.Set("Date", "Tue, 6 Oct 2026 10:00:00 +0200")
	var b bytes.Buffer
	kind := rapid.SampledFrom([]string{"multipart/mixed", "multipart/alternative", "text/plain", "text/html"}).Draw(t, "kind")
	writeEntity(t, &b, h.Header, kind, nil, 0)
	return b.Bytes()
}

// writeEntity writes an entity of a media type, with random parts if it is a multipart.
func writeEntity(t *rapid.T, to io.Writer, h message.Header, kind string, parent *message.Writer, depth int) {
	h.SetContentType(kind, nil)
	encoding := rapid.SampledFrom([]string{"base64", "quoted-printable", "8bit"}).Draw(t, "encoding")
	switch {
	case strings.HasPrefix(kind, "text/"):
		h.SetContentType(kind, map[string]string{"charset": "utf-8"})
	case kind == "application/pdf":
		h.SetContentDisposition("attachment", map[string]string{"filename": nameGen.Draw(t, "file")})
		encoding = "base64"
	}
	if !strings.HasPrefix(kind, "multipart/") {
		h.Set("Content-Transfer-Encoding", encoding)
	}
	var w *message.Writer
	var err error
	if parent == nil {
		w, err = message.CreateWriter(to, h)
	} else {
		w, err = parent.CreatePart(h)
	}
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasPrefix(kind, "multipart/") {
		for range rapid.IntRange(1, 4).Draw(t, "parts") {
			kinds := []string{"text/plain", "text/html", "application/pdf", "multipart/mixed", "multipart/alternative"}
			if depth == 3 {
				kinds = kinds[:3]
			}
			writeEntity(t, nil, message.Header{}, rapid.SampledFrom(kinds).Draw(t, "kind"), w, depth+1)
		}
	} else if _, err := io.WriteString(w, strings.ReplaceAll(textGen.Draw(t, "text"), "\n", "\r\n")); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// readWithGoMessage reads a valid message with go-message.
func readWithGoMessage(t *rapid.T, raw []byte) summary {
	e, err := message.Read(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	h := messagemail.Header{Header: e.Header}
	var s summary
	s.subject, _ = h.Subject()
	from, err := h.AddressList("From")
	if err != nil {
		t.Fatal(err)
	}
	s.from = strings.Join(strings.Fields(from[0].Name), " ") + "|" + from[0].Address
	for fields := h.Fields(); fields.Next(); {
		s.fields++
	}
	err = e.Walk(func(_ []int, e *message.Entity, err error) error {
		if err != nil || e.MultipartReader() != nil {
			return err
		}
		content, err := io.ReadAll(e.Body)
		kind, _, _ := e.Header.ContentType()
		text := strings.ReplaceAll(string(content), "\r\n", "\n")
		switch kind {
		case "text/plain":
			s.text = join(s.text, text)
		case "text/html":
			s.html = join(s.html, text)
		default:
			_, params, _ := e.Header.ContentDisposition()
			s.files = append(s.files, fmt.Sprintf("%s|%s|%s", params["filename"], kind, content))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// join joins two bodies with a line end between them.
func join(a, b string) string {
	if a != "" && b != "" && !strings.HasSuffix(a, "\n") {
		a += "\n"
	}
	return a + b
}

// TestAddressesAgainstNetMail compares address lists that the standard library reads.
func TestAddressesAgainstNetMail(t *testing.T) {
	t.Parallel()
	word := rapid.StringMatching(`[A-Za-z0-9!#$%&'*+/^_{|}~-]{1,8}`)
	mailbox := rapid.Custom(func(t *rapid.T) string {
		address := word.Draw(t, "local") + "." + word.Draw(t, "local") + "@" + rapid.StringMatching(`[a-z]{1,5}(\.[a-z]{1,5}){1,2}`).Draw(t, "domain")
		switch rapid.IntRange(0, 5).Draw(t, "form") {
		case 0:
			return address
		case 1:
			return "<" + address + ">"
		case 2:
			return word.Draw(t, "name") + " " + word.Draw(t, "name") + " <" + address + ">"
		case 3:
			return `"` + rapid.StringMatching(`[A-Za-z]([A-Za-z,:;.@<>()]|\\"|\\\\| [a-z]){0,10}`).Draw(t, "quoted") + `" <` + address + ">"
		case 4:
			return mime.QEncoding.Encode("utf-8", rapid.StringMatching(`[A-Za-zäöü日本é]([A-Za-zäöü日本é ]{0,20}[a-zé])?`).Draw(t, "word")) + " <" + address + ">"
		default:
			return address + " (a (nested) comment)"
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		value := strings.Join(rapid.SliceOfN(mailbox, 1, 5).Draw(t, "mailboxes"), ", ")
		want, err := mail.ParseAddressList(value)
		if err != nil {
			t.Fatalf("net/mail does not read %q: %v", value, err)
		}
		c := parse.Bytes([]byte("To: "+value+"\r\n\r\n"), parse.Limits{})
		if len(c.To) != len(want) {
			t.Fatalf("%d addresses, want %d: %q in %q", len(c.To), len(want), c.To, value)
		}
		for i, a := range c.To {
			if name := strings.Join(strings.Fields(want[i].Name), " "); a.Address != want[i].Address || a.Name != name && !strings.Contains(value, "comment") {
				t.Errorf("%q, want %q %q in %q", a, name, want[i].Address, value)
			}
		}
	})
}

// TestFilenamesAgainstMime compares file names in parameters that the standard library
// writes, which may be in the form of RFC 2231.
func TestFilenamesAgainstMime(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringMatching(`[a-zA-Z0-9äü日本=%'();,-][a-zA-Z0-9äü日本=%'();, -]{0,60}[a-z]`).Draw(t, "name")
		value := mime.FormatMediaType("attachment", map[string]string{"filename": name, "size": "3"})
		c := parse.Bytes([]byte("Content-Type: image/png\r\nContent-Disposition: "+value+"\r\n\r\nx"), parse.Limits{})
		want := strings.Join(strings.Fields(name), " ")
		if len(c.Attachments) != 1 || c.Attachments[0].Filename != want {
			t.Fatalf("%+v, want %q in %s", c.Attachments, want, value)
		}
	})
}
