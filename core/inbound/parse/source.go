package parse

import (
	"bytes"
	"errors"
	"io"
	"sync"
)

// bufferBytes is the size of the buffer through which a message is read, and the length at
// which a line is cut.
const bufferBytes = 32 << 10

var buffers = sync.Pool{New: func() any { return new([bufferBytes]byte) }}

// source reads a message front to back by lines. A line ends with LF or CRLF. A CR elsewhere
// is an ordinary character, so that it cannot start a header field.
type source struct {
	raw  io.ReaderAt
	size int64
	// window is the part of the message in memory; it begins at the offset at.
	window []byte
	at     int64
	// next is the index in window at which reading continues.
	next int
	// inLine is true if the beginning of the current line was returned already, because the
	// line is longer than the buffer.
	inLine bool
	// ended is the length of the line end of the last line.
	ended  int64
	buffer *[bufferBytes]byte
	err    error
}

func newSource(raw io.ReaderAt, size int64) *source {
	s := &source{raw: raw, size: size, buffer: buffers.Get().(*[bufferBytes]byte)}
	s.window = s.buffer[:0]
	return s
}

// release returns the buffer to the pool. Lines of the source must not be used afterwards.
func (s *source) release() { buffers.Put(s.buffer) }

// offset returns the offset in the message at which reading continues.
func (s *source) offset() int64 { return s.at + int64(s.next) }

// fill drops what was read and reads more into the window. It reports false at the end of
// the message, and if the window is full.
func (s *source) fill() bool {
	if s.next > 0 {
		n := copy(s.buffer[:], s.window[s.next:])
		s.at += int64(s.next)
		s.window, s.next = s.buffer[:n], 0
	}
	from := s.at + int64(len(s.window))
	room := min(int64(bufferBytes-len(s.window)), s.size-from)
	if room <= 0 || s.err != nil {
		return false
	}
	n, err := s.raw.ReadAt(s.buffer[len(s.window):len(s.window)+int(room)], from)
	s.window = s.buffer[:len(s.window)+n]
	if err != nil && (!errors.Is(err, io.EOF) || int64(n) < room) {
		s.err = err
		if errors.Is(err, io.EOF) {
			s.err = io.ErrUnexpectedEOF
		}
	}
	return n > 0
}

// line returns the next line without its end, valid until the next call, and its offset. A
// line that is longer than the buffer is cut. ok is false at the end of the message.
func (s *source) line() (text []byte, start int64, ok bool) {
	if s.inLine && !s.endLine() {
		return nil, s.offset(), false
	}
	for searched := 0; ; {
		rest := s.window[s.next:]
		start = s.offset()
		if i := bytes.IndexByte(rest[searched:], '\n'); i >= 0 {
			text = rest[:searched+i]
			s.next += len(text) + 1
			whole := withoutCR(text)
			s.ended = int64(len(text) - len(whole) + 1)
			return whole, start, true
		}
		searched = len(rest)
		if s.fill() {
			continue
		}
		text = s.window[s.next:]
		s.next = len(s.window)
		s.inLine, s.ended = len(text) == bufferBytes, 0
		return withoutCR(text), start, len(text) > 0
	}
}

// endLine skips the rest of a cut line. It reports false at the end of the message.
func (s *source) endLine() bool {
	s.inLine = false
	for {
		if i := bytes.IndexByte(s.window[s.next:], '\n'); i >= 0 {
			s.next += i + 1
			s.ended = 1
			return true
		}
		s.next = len(s.window)
		if !s.fill() {
			return false
		}
	}
}

// unread makes the next call of line return the line at the offset start again. The line
// must be the last one that line returned.
func (s *source) unread(start int64) {
	s.next = int(start - s.at)
	s.inLine = false
}

var dashesInside = []byte("\n--")

// dashes skips to the next line that begins with "--" and returns it as line does. end is
// the offset of the line end before it, where the content before the line ends.
func (s *source) dashes() (text []byte, end int64, ok bool) {
	if !s.inLine {
		for len(s.window)-s.next < 2 && s.fill() {
		}
		if bytes.HasPrefix(s.window[s.next:], dashesInside[1:]) {
			before := s.ended
			text, end, ok = s.line()
			return text, end - before, ok
		}
	}
	s.inLine = false
	for {
		rest := s.window[s.next:]
		if i := bytes.Index(rest, dashesInside); i >= 0 {
			end = s.offset() + int64(i)
			if i > 0 && rest[i-1] == '\r' {
				end--
			}
			s.next += i + 1
			text, _, ok = s.line()
			return text, end, ok
		}
		// Keep the last three bytes, which may be the beginning of "\r\n--".
		s.next += max(0, len(rest)-3)
		if !s.fill() {
			s.next = len(s.window)
			return nil, s.size, false
		}
	}
}

func withoutCR(line []byte) []byte {
	if n := len(line); n > 0 && line[n-1] == '\r' {
		return line[:n-1]
	}
	return line
}
