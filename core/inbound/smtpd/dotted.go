package smtpd

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// transfer is a message on its way from the client. Reading it returns its content, and fails
// with a *refusal if the message is refused.
type transfer interface {
	io.Reader
	// drain reads the rest, and returns an error if the connection cannot continue.
	drain() error
	// refused returns why the message is refused, or nil.
	refused() *refusal
	// complete reports whether the message was read to its end.
	complete() bool
}

// unexpected returns the error of a connection that ended within a message. It never returns
// io.EOF, which would be the end of the message.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// errDrained is the end of a transfer of which the server does not read the rest.
var errDrained = errors.New("smtpd: too much data after a refusal")

// dotted is the message after DATA (RFC 5321 section 4.5.2). It ends with a line that consists
// of a dot. Only CR LF begins and ends that line.
type dotted struct {
	in      *bufio.Reader
	content content
	rest    []byte // bytes of in that were checked and not read yet
	middle  bool   // the next byte is not the first of a line
	cr      bool   // the last byte from the client was CR
	ended   bool
	broken  error // of the connection
	budget  int64 // bytes until drain gives up
}

func newDotted(in *bufio.Reader, limit int64) *dotted {
	return &dotted{in: in, content: content{left: limit}, budget: drainFactor * limit}
}

func (d *dotted) Read(p []byte) (int, error) {
	for len(d.rest) == 0 {
		var err error
		if d.rest, err = d.next(); err != nil {
			return 0, err
		}
		if err := d.content.check(d.rest); err != nil {
			d.rest = nil
			return 0, err
		}
	}
	n := copy(p, d.rest)
	d.rest = d.rest[n:]
	return n, nil
}

// next returns the next line of the message, or a part of a long line. The result is valid
// until the next call. It returns io.EOF at the end of the message.
func (d *dotted) next() ([]byte, error) {
	switch {
	case d.ended:
		return nil, io.EOF
	case d.broken != nil:
		return nil, d.broken
	}
	line, err := d.in.ReadSlice('\n')
	if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
		d.broken = unexpected(err)
		_ = d.content.check(line) // a client that ends lines with CR alone should learn why it failed
		return nil, d.broken
	}
	d.budget -= int64(len(line))
	first := !d.middle
	// A line may be in two parts with CR and LF apart.
	d.middle = !bytes.HasSuffix(line, []byte("\r\n")) && !(d.cr && len(line) == 1 && line[0] == '\n')
	d.cr = line[len(line)-1] == '\r'
	if first && line[0] == '.' {
		if string(line) == ".\r\n" {
			d.ended = true
			return nil, io.EOF
		}
		line = line[1:]
	}
	return line, nil
}

func (d *dotted) drain() error {
	d.rest = nil
	for {
		line, err := d.next()
		switch {
		case err == io.EOF: //nolint:errorlint // the end of the message; wrapped errors are others
			return nil
		case err != nil:
			return err
		case d.budget < 0:
			return errDrained
		}
		_ = d.content.check(line) // so that the reply names the fault
	}
}

func (d *dotted) refused() *refusal { return d.content.fault }
func (d *dotted) complete() bool    { return d.ended }
