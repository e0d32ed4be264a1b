// Package clamd asks the daemon of ClamAV whether a message contains malware, over its
// command INSTREAM: the message is sent in chunks, each after its length in four bytes, and
// an empty chunk ends it. See the manual page clamd(8).
package clamd

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core/inbound"
	"github.com/mailhelm/mailhelm/core/inbound/scanning"
)

const (
	// chunkSize is the size of a chunk in bytes, with its length.
	chunkSize  = 64 << 10
	lengthSize = 4
	// maxAnswer is the largest answer in bytes. It names at most one malware.
	maxAnswer   = 4 << 10
	dialTimeout = 5 * time.Second
)

// Client speaks to one clamd. It opens a connection for each command. It is safe for use by
// several goroutines.
type Client struct{ network, address string }

var _ scanning.Client = (*Client)(nil)

// New returns a client. network is "tcp" with an address host:port, or "unix" with the path
// of a socket.
func New(network, address string) *Client { return &Client{network, address} }

// Ping implements [scanning.Client].
func (c *Client) Ping(ctx context.Context) error {
	got, err := c.command(ctx, "PING", nil)
	if err == nil && got != "PONG" {
		err = fmt.Errorf("the answer to a ping is %q", got)
	}
	return err
}

// Scan implements [inbound.Scanner]. The size is not needed: clamd learns the end of the
// message by an empty chunk, which is sent when raw ends with io.EOF.
//
// clamd answers OK for parts of a message that exceed its limits, such as MaxScanSize, unless
// its setting AlertExceedsMax is on.
func (c *Client) Scan(ctx context.Context, _ inbound.Envelope, raw io.Reader, _ int64) (inbound.Finding, error) {
	got, err := c.command(ctx, "INSTREAM", raw)
	if err != nil {
		return inbound.Finding{}, err
	}
	return findingOf(got)
}

// findingOf returns what the answer to INSTREAM says.
func findingOf(answer string) (inbound.Finding, error) {
	said, ofStream := strings.CutPrefix(answer, "stream: ")
	name, found := strings.CutSuffix(said, " FOUND")
	switch {
	case answer == sizeExceeded:
		return inbound.Finding{}, inbound.ErrTooLarge
	case ofStream && said == "OK":
		return inbound.Finding{Verdict: inbound.Pass}, nil
	case ofStream && found:
		return inbound.Finding{Verdict: inbound.Fail, Reason: scanning.Printable(name)}, nil
	}
	return inbound.Finding{}, fmt.Errorf("the answer is %q", scanning.Printable(answer))
}

// sizeExceeded is the answer to a message larger than clamd's setting StreamMaxLength.
const sizeExceeded = "INSTREAM size limit exceeded. ERROR"

// command sends a command, and raw in chunks if it is not nil, and returns the answer.
func (c *Client) command(ctx context.Context, name string, raw io.Reader) (string, error) {
	conn, err := (&net.Dialer{Timeout: dialTimeout}).DialContext(ctx, c.network, c.address)
	if err != nil {
		return "", err
	}
	defer conn.Close()                                                               //nolint:errcheck // every byte that matters was read
	defer context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })() // ends reads and writes
	answers := make(chan reply, 1)
	go func() {
		// The answer is read while the message is sent: when a message is too large, clamd
		// answers and closes the connection, and the answer can be lost once a write failed.
		r := readReply(conn)
		_ = conn.SetWriteDeadline(time.Unix(1, 0)) // no further chunk is needed
		answers <- r
	}()
	sent := send(conn, name, raw)
	if errors.Is(sent, errRaw) {
		return "", sent
	}
	r := <-answers
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case r.err == nil && (sent == nil || r.text == sizeExceeded):
		return r.text, nil
	case r.err == nil:
		return "", fmt.Errorf("the answer %q came before the end of the message", scanning.Printable(r.text))
	}
	return "", r.err
}

// errRaw means that the message could not be read.
var errRaw = errors.New("read the message")

// send sends a command. The letter z means that commands and answers end with a NUL.
func send(w io.Writer, name string, raw io.Reader) error {
	if _, err := w.Write([]byte("z" + name + "\x00")); err != nil || raw == nil {
		return err
	}
	chunk := make([]byte, chunkSize)
	for {
		n, end := raw.Read(chunk[lengthSize:])
		if end != nil && end != io.EOF {
			return fmt.Errorf("%w: %w", errRaw, end)
		}
		if n > 0 {
			binary.BigEndian.PutUint32(chunk, uint32(n))
			if _, err := w.Write(chunk[:lengthSize+n]); err != nil {
				return err
			}
		}
		if end == io.EOF {
			_, err := w.Write(make([]byte, lengthSize)) // the empty chunk
			return err
		}
	}
}

// reply is an answer of clamd, without the NUL at its end.
type reply struct {
	text string
	err  error
}

// readReply reads an answer. An answer without the NUL is incomplete.
func readReply(from io.Reader) reply {
	text, err := bufio.NewReader(io.LimitReader(from, maxAnswer)).ReadString(0)
	switch {
	case err == io.EOF && len(text) == maxAnswer:
		return reply{err: fmt.Errorf("the answer is larger than %d bytes", maxAnswer)}
	case err == io.EOF:
		return reply{err: fmt.Errorf("the connection was closed after %d bytes of an answer: %w", len(text), io.ErrUnexpectedEOF)}
	case err != nil:
		return reply{err: err}
	}
	return reply{text: strings.TrimSuffix(text, "\x00")}
}
