package objects_test

import (
	"mime"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/mailhelm/mailhelm/core/objects"
)

func TestCleanLinks(t *testing.T) {
	t.Parallel()
	for from, want := range map[string]string{
		"": "", "report.pdf": "report.pdf", "../../etc/passwd": "passwd", `C:\Windows\evil.exe`: "evil.exe", "/": "_", "..": "", ".bashrc": "bashrc",
		"a\r\nSet-Cookie: x": "aSet-Cookie_ x", "invoice\u202efdp.exe": "invoicefdp.exe", "a\x00b": "ab", "naïve.txt": "naïve.txt", "a\xffb.txt": "a_b.txt",
		`a"b;c.txt`: "a_b;c.txt", "a%00.txt": "a_00.txt", "x. . ": "x", "two\u2003words": "two words",
		strings.Repeat("ä", 200) + ".pdf": strings.Repeat("ä", 73) + ".pdf", strings.Repeat("x", 500): strings.Repeat("x", 150),
	} {
		l := objects.Link{Filename: from}.Clean()
		if l.Filename != want {
			t.Errorf("the file name %q becomes %q, want %q", from, l.Filename, want)
		}
	}
	for from, want := range map[string]string{
		"": "application/octet-stream", "text/plain": "text/plain", "TEXT/HTML; charset=ISO-8859-1; boundary=x": "text/html; charset=iso-8859-1",
		"text": "application/octet-stream", "text/plain\r\nX: y": "application/octet-stream", "text/plain; charset=\"a b\"": "text/plain",
		"text/" + strings.Repeat("x", 400): "application/octet-stream", "image/svg+xml": "image/svg+xml",
	} {
		if got := (objects.Link{ContentType: from}).Clean().ContentType; got != want {
			t.Errorf("the content type %q becomes %q, want %q", from, got, want)
		}
	}
	if got := (objects.Link{Filename: "a b.png"}).Disposition(true); got != `inline; filename="a b.png"` {
		t.Errorf("Disposition = %s", got)
	}
	if got := (objects.Link{}).Disposition(false); got != "attachment" {
		t.Errorf("Disposition = %s", got)
	}
}

// FuzzCleanLinks checks that a clean link is the same when it is cleaned again, and is safe
// in header fields.
func FuzzCleanLinks(f *testing.F) {
	for _, seed := range [][2]string{{"a/b\\c\"d\r\n.txt", "text/html; charset=x"}, {strings.Repeat("ä.", 100), "a/b; c"}, {"..", ""}, {"%\x00.", "*/*"}, {"... .a", "text/plain;charset=\"\\\"\""}} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, filename, contentType string) {
		l := objects.Link{Filename: filename, ContentType: contentType}.Clean()
		if again := l.Clean(); again != l {
			t.Errorf("%+q becomes %+q when it is cleaned again", l, again)
		}
		if len(l.Filename) > 150 || !utf8.ValidString(l.Filename) || strings.ContainsAny(l.Filename, `/\"%`) || strings.HasPrefix(l.Filename, ".") ||
			strings.ContainsFunc(l.Filename+l.ContentType, unicode.IsControl) {
			t.Errorf("file name %q, content type %q", l.Filename, l.ContentType)
		}
		kind, parameters, err := mime.ParseMediaType(l.Disposition(false))
		if kind != "attachment" || parameters["filename"] != l.Filename || err != nil {
			t.Errorf("%q is read as %q %q %v", l.Disposition(false), kind, parameters, err)
		}
		if _, _, err := mime.ParseMediaType(l.ContentType); err != nil {
			t.Errorf("content type %q: %v", l.ContentType, err)
		}
	})
}
