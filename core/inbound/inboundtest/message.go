package inboundtest

import (
	"io"
	"slices"
	"sort"
	"strings"
)

// Message is a message of repeated texts. Reading it needs no memory for its size. It is an
// io.ReaderAt and may be read by several goroutines.
type Message struct {
	pieces []piece
	size   int64
}

// piece is a text that occurs one or more times, from the offset at.
type piece struct {
	text  string
	times int64
	at    int64
}

// repeat returns a piece of n times the text.
func repeat(text string, n int64) piece { return piece{text: text, times: n} }

// message joins texts (string) and repetitions (piece).
func message(parts ...any) *Message {
	m := &Message{}
	for _, part := range parts {
		p, ok := part.(piece)
		if !ok {
			p = piece{text: part.(string), times: 1}
		}
		if p.text == "" || p.times == 0 {
			continue
		}
		p.at = m.size
		m.size += int64(len(p.text)) * p.times
		m.pieces = append(m.pieces, p)
	}
	return m
}

// Size returns the length of the message in bytes.
func (m *Message) Size() int64 { return m.size }

// ReadAt implements io.ReaderAt.
func (m *Message) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 || off >= m.size {
		return 0, io.EOF
	}
	i := sort.Search(len(m.pieces), func(i int) bool { return m.pieces[i].at > off }) - 1
	n := 0
	for ; n < len(p) && i < len(m.pieces); i++ {
		c := m.pieces[i]
		end := c.at + int64(len(c.text))*c.times
		for n < len(p) && off < end {
			copied := copy(p[n:], c.text[(off-c.at)%int64(len(c.text)):])
			n += copied
			off += int64(copied)
		}
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// Reader returns a reader of the message, such as an SMTP client needs.
func (m *Message) Reader() io.Reader { return io.NewSectionReader(m, 0, m.size) }

// Bytes returns the message in memory.
func (m *Message) Bytes() []byte {
	var b strings.Builder
	b.Grow(int(m.size))
	for _, p := range m.pieces {
		b.WriteString(strings.Repeat(p.text, int(p.times)))
	}
	return []byte(b.String())
}

// Sample is a hostile message and what reading it must find.
type Sample struct {
	// Name is unique, in lower case with hyphens.
	Name string
	// About says what the message tries.
	About   string
	Message *Message
	Want    Want
}

// Want is what a reader must find in a sample. What is zero must be empty in the result,
// unless a field says otherwise.
type Want struct {
	// From and FromName are the author's address and display name.
	From, FromName string
	Subject        string
	// Text and HTML must be contained in the bodies.
	Text, HTML string
	// Not must not be contained in any body, subject, name or file name.
	Not string
	// Attachments has every attachment in order, if there are at most 20.
	Attachments []Attachment
	// AttachmentCount is the number of attachments, if there are more than 20.
	AttachmentCount int
	// Warnings are the codes of all warnings, in any order.
	Warnings []string
	// Undated is true if the date is missing or unreadable.
	Undated bool
}

// Attachment is an attachment of a sample.
type Attachment struct {
	Filename, ContentType string
	Size                  int64
	Inline                bool
}

// Hostile returns hostile messages: what attackers and broken programs send to make a receiver
// crash, use up memory or time, or display something false. Large ones are generated while
// they are read.
func Hostile() []Sample {
	return slices.Concat(structureSamples(), boundarySamples(), headerSamples(), addressSamples(),
		filenameSamples(), encodingSamples(), charsetSamples(), contentSamples(), sizeSamples())
}

const (
	author     = "anna@example.org"
	authorName = "Anna Test"
	subject    = "Hello"

	fromTo = "From: Anna Test <anna@example.org>\r\nTo: box@in.example\r\n"
	dated  = "Date: Tue, 6 Oct 2026 10:00:00 +0200\r\nMessage-ID: <1@example.org>\r\nMIME-Version: 1.0\r\n"
	head   = fromTo + "Subject: Hello\r\n" + dated
	plain  = "Content-Type: text/plain; charset=utf-8\r\n\r\n"
	mixed  = head + "Content-Type: multipart/mixed; boundary=b\r\n\r\n"
)

// usual returns a sample whose author and subject are those of head.
func usual(name, about string, want Want, parts ...any) Sample {
	want.From, want.FromName, want.Subject = author, authorName, subject
	return Sample{Name: name, About: about, Message: message(parts...), Want: want}
}

// sample returns a sample whose author and subject are in want.
func sample(name, about string, want Want, parts ...any) Sample {
	return Sample{Name: name, About: about, Message: message(parts...), Want: want}
}

// warnings returns codes of warnings.
func warnings(codes ...string) []string { return codes }
