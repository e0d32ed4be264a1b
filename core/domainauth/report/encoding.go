package report

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"regexp"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// headBytes is how much of a document is looked at to tell what it is.
const headBytes = 1024

var declaredEncoding = regexp.MustCompile(`^<\?xml[^>]*encoding\s*=\s*["']([A-Za-z0-9._:-]+)["']`)

// inUTF8 returns the document in UTF-8. Its encoding is that of the byte order mark, or the one that
// it declares; UTF-8 if that is not known. It fails if the document is not XML.
func (p *parser) inUTF8(r io.Reader) (io.Reader, error) {
	in := bufio.NewReaderSize(r, headBytes)
	head, err := in.Peek(headBytes)
	if len(head) == 0 && err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	switch {
	case bytes.HasPrefix(head, []byte{0xfe, 0xff}), bytes.HasPrefix(head, []byte{0xff, 0xfe}):
		return transform.NewReader(in, unicode.UTF16(unicode.BigEndian, unicode.UseBOM).NewDecoder()), nil
	case bytes.HasPrefix(head, byteOrderMark):
		_, _ = in.Discard(len(byteOrderMark)) // it was peeked
		head = head[len(byteOrderMark):]
	}
	head = bytes.TrimLeft(head, space)
	if len(head) > 0 && head[0] == '{' && bytes.Contains(head, []byte(`"organization-name"`)) {
		return nil, ErrTLSReport
	}
	if len(head) == 0 || head[0] != '<' {
		return nil, ErrNotReport
	}
	m := declaredEncoding.FindSubmatch(head)
	if m == nil {
		return in, nil
	}
	encoding, name := charset.Lookup(string(m[1]))
	if encoding == nil || name == "utf-8" || name == "replacement" || name == "utf-16le" || name == "utf-16be" {
		return in, nil // a document that can be read as ASCII so far is not UTF-16
	}
	return transform.NewReader(in, encoding.NewDecoder()), nil
}

var byteOrderMark = []byte("\uFEFF")
