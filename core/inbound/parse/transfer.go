package parse

import (
	"bufio"
	"errors"
	"io"
	"strings"
)

// transferEncoding returns the normal form of a Content-Transfer-Encoding (RFC 2045 section
// 6), and whether it is known. Content of an unknown encoding is read as it is.
func transferEncoding(value string) (encoding string, known bool) {
	value = strings.TrimSpace(value)
	if i := strings.IndexAny(value, " \t;("); i >= 0 {
		value = value[:i]
	}
	switch value = strings.ToLower(strings.Trim(value, `"'`)); value {
	case "base64", "quoted-printable":
		return value, true
	case "", "7bit", "8bit", "binary":
		return "", true
	}
	return "", false
}

// transferDecoder is a reader that removes a transfer encoding.
type transferDecoder interface {
	io.Reader
	// damaged reports whether something had to be skipped.
	damaged() bool
}

// decodeTransfer returns a reader of the content without its transfer encoding, a value of
// transferEncoding. It reads damaged content as far as possible, and fails only if r does.
func decodeTransfer(encoding string, r io.Reader) transferDecoder {
	switch encoding {
	case "base64":
		return &base64Reader{r: r}
	case "quoted-printable":
		return &quotedReader{r: bufio.NewReaderSize(r, 4096)}
	}
	return identity{r}
}

type identity struct{ io.Reader }

func (identity) damaged() bool { return false }

// Values in base64Values that are not the value of a digit.
const (
	notBase64   = 0xff
	base64Space = 0xfe
	base64Pad   = 0xfd
)

// base64Values has the value of each digit, notBase64 for other characters.
var base64Values = func() (values [256]byte) {
	for i := range values {
		values[i] = notBase64
	}
	for i, c := range "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/" {
		values[c] = byte(i)
	}
	return values
}()

// base64Kinds is base64Values with the kinds of characters that are no digits.
var base64Kinds = func() [256]byte {
	kinds := base64Values
	for _, c := range " \t\r\n" {
		kinds[c] = base64Space
	}
	kinds['='] = base64Pad
	return kinds
}()

// base64Reader decodes base64. It skips every character outside of the alphabet. Padding
// ends a group of four digits, and content may follow it, because some senders concatenate
// encoded pieces.
type base64Reader struct {
	r   io.Reader
	in  [4096]byte
	out [3072 + 8]byte
	// ready is what is decoded and not read yet.
	ready  []byte
	group  uint32
	digits int
	bad    bool
	err    error
}

func (b *base64Reader) damaged() bool { return b.bad }

func (b *base64Reader) Read(p []byte) (int, error) {
	for len(b.ready) == 0 {
		if b.err != nil {
			return 0, b.err
		}
		n, err := b.r.Read(b.in[:])
		out := b.decode(b.out[:0], b.in[:n])
		if err != nil {
			b.err = err
			out = b.endGroup(out)
		}
		b.ready = out
	}
	n := copy(p, b.ready)
	b.ready = b.ready[n:]
	return n, nil
}

func (b *base64Reader) decode(out, in []byte) []byte {
	for _, c := range in {
		v := base64Kinds[c]
		switch {
		case v < 64:
			b.group = b.group<<6 | uint32(v)
			if b.digits++; b.digits == 4 {
				out = append(out, byte(b.group>>16), byte(b.group>>8), byte(b.group))
				b.group, b.digits = 0, 0
			}
		case v == base64Pad:
			out = b.endGroup(out)
		case v == notBase64:
			b.bad = true
		}
	}
	return out
}

// endGroup decodes a group of less than four digits. One digit alone has no byte.
func (b *base64Reader) endGroup(out []byte) []byte {
	switch b.digits {
	case 1:
		b.bad = true
	case 2:
		out = append(out, byte(b.group>>4))
	case 3:
		out = append(out, byte(b.group>>10), byte(b.group>>2))
	}
	b.group, b.digits = 0, 0
	return out
}

// maxTrailing is the number of spaces at the end of a line that are removed. More spaces are
// content.
const maxTrailing = 1024

// quotedReader decodes quoted-printable (RFC 2045 section 6.7). An invalid escape stays as it
// is, lines may have any length, and spaces at the end of a line are removed.
type quotedReader struct {
	r *bufio.Reader
	// out is what is decoded. Its spaces at the end, from the index kept, are at the end of
	// the current line, unless something follows.
	out  []byte
	kept int
	// ready is the part of out that is not read yet, and held the number of spaces after it
	// that may be removed.
	ready []byte
	held  int
	bad   bool
	err   error
}

func (q *quotedReader) damaged() bool { return q.bad }

func (q *quotedReader) Read(p []byte) (int, error) {
	for len(q.ready) == 0 {
		if q.err != nil {
			return 0, q.err
		}
		n := copy(q.out, q.out[len(q.out)-q.held:])
		q.out, q.kept, q.held = q.out[:n], 0, 0
		for len(q.out) < 2048 && q.err == nil {
			q.err = q.step()
		}
		q.ready = q.out[:q.trimmed()]
		if n := len(q.out) - len(q.ready); q.err == nil && n < maxTrailing {
			q.held = n
		} else if q.err == nil {
			q.ready = q.out
		}
	}
	n := copy(p, q.ready)
	q.ready = q.ready[n:]
	return n, nil
}

// trimmed returns the length of out without the spaces at the end of the line.
func (q *quotedReader) trimmed() int {
	n := len(q.out)
	for n > q.kept && (q.out[n-1] == ' ' || q.out[n-1] == '\t') {
		n--
	}
	return n
}

// step decodes up to the next character with a meaning, and that character.
func (q *quotedReader) step() error {
	if _, err := q.r.Peek(1); err != nil {
		return err
	}
	text, _ := q.r.Peek(q.r.Buffered()) // it is buffered
	n := 0
	for n < len(text) && text[n] != '=' && text[n] != '\r' && text[n] != '\n' {
		n++
	}
	q.out = append(q.out, text[:n]...)
	if n == len(text) {
		_, err := q.r.Discard(n)
		return err
	}
	c := text[n]
	if _, err := q.r.Discard(n + 1); err != nil {
		return err
	}
	if c == '=' {
		return q.escape()
	}
	if next, _ := q.r.Peek(1); c == '\n' || len(next) == 1 && next[0] == '\n' {
		q.out = q.out[:q.trimmed()]
	}
	q.put(c)
	return nil
}

// put adds a character, before which spaces are content.
func (q *quotedReader) put(c byte) {
	q.out = append(q.out, c)
	q.kept = len(q.out)
}

// escape decodes what follows "=": two digits, or a line end, perhaps after spaces.
func (q *quotedReader) escape() error {
	next, err := q.r.Peek(2)
	if len(next) == 2 && isHex(next[0]) && isHex(next[1]) {
		q.put(unhex(next[0])<<4 | unhex(next[1]))
		_, err = q.r.Discard(2)
		return err
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if n, soft := q.softBreak(); soft {
		q.kept = len(q.out)
		_, err = q.r.Discard(n)
		return err
	}
	q.bad = true
	q.put('=')
	return nil
}

// softBreak returns the length of the spaces and the line end that follow, if nothing else
// is on the line. The end of the content counts as a line end.
func (q *quotedReader) softBreak() (n int, ok bool) {
	next, err := q.r.Peek(128)
	for i, c := range next {
		switch c {
		case ' ', '\t', '\r':
			continue
		case '\n':
			return i + 1, true
		}
		return 0, false
	}
	return len(next), err != nil
}
