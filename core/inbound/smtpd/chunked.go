package smtpd

import (
	"errors"
	"io"
	"strconv"
	"strings"
	"time"
)

// errReset means that the client ended a message between two chunks.
var errReset = errors.New("smtpd: the client gave up the message")

// chunk is the argument of BDAT (RFC 3030 section 2).
type chunk struct {
	size uint64
	last bool
}

// parseChunk reads the argument of BDAT.
func parseChunk(arg string) (chunk, error) {
	fields := strings.Fields(arg)
	if len(fields) == 0 || len(fields) > 2 || len(fields) == 2 && !strings.EqualFold(fields[1], "LAST") {
		return chunk{}, errBadChunk
	}
	size, err := strconv.ParseUint(fields[0], 10, 63)
	if err != nil {
		return chunk{}, errBadChunk
	}
	return chunk{size, len(fields) == 2}, nil
}

// chunks executes the first BDAT of a message. Intake reads the message through [chunked], which
// executes the further commands. A malformed BDAT ends the session, because the server cannot
// know how many bytes follow it.
func (s *session) chunks(arg string) error {
	first, err := parseChunk(arg)
	if err != nil {
		return err
	}
	end := now().Add(s.server.limits.MessageTimeout)
	message := newChunked(s, first, end)
	if s.mail == nil || len(s.mail.routes) == 0 {
		if err := message.drain(); err != nil {
			return err
		}
		return s.withoutRecipients()
	}
	if err := s.receive(message, end); !errors.Is(err, errReset) {
		return err
	}
	return nil
}

// chunked is the message of a sequence of BDAT commands.
type chunked struct {
	session *session
	content content
	chunk   chunk // what remains of the present chunk
	end     time.Time
	taken   uint64 // bytes of the present chunk that were read
	broken  error  // of the connection, or errReset
	ended   bool
	budget  int64 // bytes until drain gives up
}

func newChunked(s *session, first chunk, end time.Time) *chunked {
	s.wire.waitForData(end, s.server.limits.DataTimeout)
	limit := s.server.limits.MessageBytes
	return &chunked{session: s, chunk: first, end: end, content: content{left: limit}, budget: drainFactor * limit}
}

func (c *chunked) Read(p []byte) (int, error) {
	if c.broken != nil {
		return 0, c.broken
	}
	if c.content.fault != nil {
		return 0, c.content.fault
	}
	for c.chunk.size == 0 {
		if c.chunk.last {
			if err := c.content.end(); err != nil {
				return 0, err
			}
			c.ended = true
			return 0, io.EOF
		}
		if c.broken = c.next(); c.broken != nil {
			return 0, c.broken
		}
	}
	n, err := c.read(p)
	if err != nil {
		return 0, err
	}
	if err := c.content.check(p[:n]); err != nil {
		return 0, err
	}
	return n, nil
}

// read reads bytes of the present chunk.
func (c *chunked) read(p []byte) (int, error) {
	if uint64(len(p)) > c.chunk.size {
		p = p[:c.chunk.size]
	}
	n, err := c.session.wire.in.Read(p)
	c.chunk.size -= uint64(n)
	c.taken += uint64(n)
	c.budget -= int64(n)
	if n > 0 || err == nil {
		return n, nil
	}
	c.broken = unexpected(err)
	return 0, c.broken
}

// next replies to the present chunk and waits for the next one.
func (c *chunked) next() error {
	s := c.session
	s.wire.reply(250, "2.0.0", decimal(int64(c.taken))+" bytes received")
	for {
		line, err := s.readCommand(c.end, false)
		if err != nil {
			return unexpected(err)
		}
		switch verb, arg := split(line); verb {
		case "BDAT":
			if c.chunk, err = parseChunk(arg); err != nil {
				return err
			}
			if c.taken = 0; c.chunk.size > 0 {
				s.commands-- // the size limit bounds these
			}
			s.wire.waitForData(c.end, s.server.limits.DataTimeout)
			return nil
		case "RSET":
			s.wire.reply(250, "2.0.0", "OK")
			return errReset
		case "EHLO", "HELO":
			if err := commands[verb](s, arg); err != nil {
				return err
			}
			return errReset
		case "QUIT":
			return s.quit("")
		case "NOOP":
			s.wire.reply(250, "2.0.0", "OK")
		default:
			if err := s.faulty(503, "5.5.1", "Send the other chunks, or RSET"); err != nil {
				return err
			}
		}
	}
}

// drain reads the rest of the present chunk. If Intake has not read the message to its end, the
// message fails with this chunk (RFC 3030 section 2).
func (c *chunked) drain() error {
	buffer := make([]byte, 4<<10)
	for c.broken == nil && c.chunk.size > 0 {
		n, err := c.read(buffer)
		if err != nil {
			break
		}
		_ = c.content.check(buffer[:n]) // so that the reply names the fault
		if c.budget < 0 {
			return errDrained
		}
	}
	return c.broken
}

func (c *chunked) refused() *refusal { return c.content.fault }
func (c *chunked) complete() bool    { return c.ended }
