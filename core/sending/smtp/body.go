package smtp

import (
	"bytes"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	message "github.com/emersion/go-message"
	"github.com/mailhelm/mailhelm/core/sending"
)

const (
	maxBody = 10 << 20
	maxLine = 998 // RFC 5322 section 2.1.1, in bytes without the line end
)

// buffers are the buffers in which a message is composed and sent. Further messages reuse
// them.
type buffers struct {
	message bytes.Buffer
	body    []byte // of a part
	lines   []byte // the message as it is sent
}

var bufferPool = sync.Pool{New: func() any { return new(buffers) }}

// encode returns a message in MIME format, which is valid until b is used again.
func encode(h fields, c sending.Content, b *buffers) ([]byte, error) {
	switch {
	case c.Text == "" && c.HTML == "":
		return nil, invalid("a message has a text, an HTML part or both")
	case len(c.Text) > maxBody || len(c.HTML) > maxBody:
		return nil, invalid("a part of the message is too long")
	case !utf8.ValidString(c.Text) || !utf8.ValidString(c.HTML):
		return nil, invalid("the content is not UTF-8")
	}
	var header message.Header
	// in reverse order, because Add inserts a field before the existing ones
	for _, field := range slices.Backward(h.all) {
		header.Add(field.Name, field.Value)
	}
	b.message.Reset()
	if err := b.writeMessage(header, c); err != nil {
		return nil, invalid(err.Error())
	}
	return b.message.Bytes(), nil
}

func (b *buffers) writeMessage(header message.Header, c sending.Content) error {
	header.Set("Mime-Version", "1.0")
	if c.Text == "" || c.HTML == "" {
		b.prepare(&header, c.Text+c.HTML, c.HTML != "")
		w, err := message.CreateWriter(&b.message, header)
		return b.writeBody(w, err)
	}
	header.SetContentType("multipart/alternative", nil)
	w, err := message.CreateWriter(&b.message, header)
	if err != nil {
		return err
	}
	for _, isHTML := range []bool{false, true} {
		body := c.Text
		if isHTML {
			body = c.HTML
		}
		var head message.Header
		b.prepare(&head, body, isHTML)
		part, err := w.CreatePart(head)
		if err := b.writeBody(part, err); err != nil {
			return err
		}
	}
	return w.Close()
}

// prepare sets the header fields that describe a body, and stores the body as the writer of
// these fields needs it.
func (b *buffers) prepare(head *message.Header, body string, isHTML bool) {
	head.SetContentType(typeOf(isHTML), utf8Params)
	body = withNewlines(body)
	if isPlain(body) {
		b.body = appendLines(b.body[:0], body)
		return
	}
	head.Set("Content-Transfer-Encoding", "quoted-printable") // its writer makes CRLF of LF
	b.body = append(b.body[:0], body...)
}

func (b *buffers) writeBody(w *message.Writer, err error) error {
	if err != nil {
		return err
	}
	if _, err := w.Write(b.body); err != nil {
		return err
	}
	return w.Close()
}

// appendLines appends a body whose line ends are LF, with CRLF instead.
func appendLines(out []byte, body string) []byte {
	for line := range strings.SplitAfterSeq(body, "\n") {
		text, ended := strings.CutSuffix(line, "\n")
		if out = append(out, text...); ended {
			out = append(out, "\r\n"...)
		}
	}
	return out
}

var utf8Params = map[string]string{"charset": "utf-8"}

func typeOf(isHTML bool) string {
	if isHTML {
		return "text/html"
	}
	return "text/plain"
}

// withNewlines returns a body all of whose line ends are LF, which become CRLF when it is
// written. The standard library's writer of quoted-printable loses some line ends beside a
// single CR.
func withNewlines(body string) string {
	if !strings.Contains(body, "\r") {
		return body
	}
	return strings.ReplaceAll(strings.ReplaceAll(body, "\r\n", "\n"), "\r", "\n")
}

// isPlain reports whether servers pass on a body as it is, so that it needs no encoding: it
// has lines of ASCII of a permitted length (7bit, the default of RFC 2045 section 6.1). Some
// servers remove white space at the end of a line, and some put ">" before "From ", which
// would break the signature of the message.
func isPlain(body string) bool {
	start := 0 // of the line
	for i := range len(body) {
		switch c := body[i]; {
		case c == '\n':
			if !isPlainLine(body[start:i]) {
				return false
			}
			start = i + 1
		case (c < ' ' || c > '~') && c != '\t':
			return false
		}
	}
	return isPlainLine(body[start:])
}

func isPlainLine(line string) bool {
	return len(line) <= maxLine && !strings.HasSuffix(line, " ") && !strings.HasSuffix(line, "\t") && !strings.HasPrefix(line, "From ")
}
