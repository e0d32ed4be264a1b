package smtp

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	message "github.com/emersion/go-message"
	write "github.com/emersion/go-message/mail"
	"github.com/mailhelm/mailhelm/core/sending"
)

const (
	maxBody    = 10 << 20
	maxLine    = 998     // RFC 5322 section 2.1.1, in bytes without the line end
	headerRoom = 4 << 10 // enough for the headers of most messages
)

func encode(h fields, c sending.Content) ([]byte, error) {
	switch {
	case c.Text == "" && c.HTML == "":
		return nil, invalid("a message has a text, an HTML part or both")
	case len(c.Text) > maxBody || len(c.HTML) > maxBody:
		return nil, invalid("a part of the message is too long")
	case !utf8.ValidString(c.Text) || !utf8.ValidString(c.HTML):
		return nil, invalid("the content is not UTF-8")
	}
	var header write.Header
	// in reverse order, because Add inserts a field before the existing ones
	for _, field := range slices.Backward(h.all) {
		header.Add(field.Name, field.Value)
	}
	c.Text, c.HTML = newlines.Replace(c.Text), newlines.Replace(c.HTML)
	var out bytes.Buffer
	out.Grow(len(c.Text) + len(c.HTML) + headerRoom)
	err := writeBody(&out, header, c)
	if err != nil {
		return nil, invalid(err.Error())
	}
	return out.Bytes(), nil
}

func writeBody(out io.Writer, header write.Header, c sending.Content) error {
	header.Set("Mime-Version", "1.0")
	if c.Text == "" || c.HTML == "" {
		header.SetContentType(typeOf(c.HTML != ""), utf8Params)
		header.Set("Content-Transfer-Encoding", encodingOf(c.Text+c.HTML))
		w, err := write.CreateSingleInlineWriter(out, header)
		return writePart(w, c.Text+c.HTML, err)
	}
	w, err := write.CreateInlineWriter(out, header)
	if err != nil {
		return err
	}
	for _, isHTML := range []bool{false, true} {
		var part write.InlineHeader
		part.Header = message.Header{}
		part.SetContentType(typeOf(isHTML), utf8Params)
		body := c.Text
		if isHTML {
			body = c.HTML
		}
		part.Set("Content-Transfer-Encoding", encodingOf(body))
		p, err := w.CreatePart(part)
		if err := writePart(p, body, err); err != nil {
			return err
		}
	}
	return w.Close()
}

var utf8Params = map[string]string{"charset": "utf-8"}

func typeOf(isHTML bool) string {
	if isHTML {
		return "text/html"
	}
	return "text/plain"
}

// newlines makes all line ends of a body LF, for which the writers below put CRLF. The
// standard library's writer of quoted-printable loses some line ends beside a single CR.
var newlines = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// encodingOf returns the Content-Transfer-Encoding of a body: "7bit" if servers pass it on
// as it is, else "quoted-printable" (RFC 2045 section 6).
func encodingOf(body string) string {
	for line := range strings.SplitSeq(body, "\n") {
		if !isPlain(line) {
			return "quoted-printable"
		}
	}
	return "7bit"
}

// isPlain reports whether every server passes on a line unchanged. Some remove white space
// at its end, and some put ">" before "From ", which would break the signature of the
// message.
func isPlain(line string) bool {
	if len(line) > maxLine || strings.HasSuffix(line, " ") || strings.HasSuffix(line, "\t") || strings.HasPrefix(line, "From ") {
		return false
	}
	for i := range len(line) {
		if (line[i] < ' ' || line[i] > '~') && line[i] != '\t' {
			return false
		}
	}
	return true
}

func writePart(w io.WriteCloser, body string, err error) error {
	if err != nil {
		return err
	}
	if _, err := io.WriteString(w, body); err != nil {
		return err
	}
	return w.Close()
}
