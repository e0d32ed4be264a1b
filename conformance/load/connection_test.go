package load

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/url"
	"strconv"
	"strings"
	"testing"
)

// connection is a connection to an HTTP server of this process that allocates nothing for a
// call, so that the allocations of the process are those of the server.
type connection struct {
	net.Conn
	reader *bufio.Reader
	// status is that of the answers; 0 means any success.
	status int
}

// connect opens a connection to the server at a URL.
func connect(b *testing.B, address string) *connection {
	b.Helper()
	u, err := url.Parse(address)
	if err != nil {
		b.Fatal(err)
	}
	c, err := net.Dial("tcp", u.Host)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = c.Close() })
	return &connection{Conn: c, reader: bufio.NewReaderSize(c, 64<<10)}
}

// message returns an HTTP/1.1 request as it is sent. lines are header fields.
func message(method, address, body string, lines ...string) []byte {
	u, err := url.Parse(address)
	if err != nil {
		panic(err) // the URLs are constants of this package
	}
	lines = append([]string{method + " " + u.RequestURI() + " HTTP/1.1", "Host: " + u.Host}, lines...)
	if body != "" {
		lines = append(lines, "Content-Type: application/json", "Content-Length: "+strconv.Itoa(len(body)))
	}
	return []byte(strings.Join(lines, "\r\n") + "\r\n\r\n" + body)
}

// send sends a request and reads the answer to its end. It returns an error with the answer
// if the status is another one, or if a tool's result is an error.
func (c *connection) send(request []byte) error {
	if _, err := c.Write(request); err != nil {
		return err
	}
	line, err := c.reader.ReadSlice('\n')
	if err != nil {
		return err
	}
	failed := len(line) < 12 || line[9] != '2'
	if c.status > 0 {
		failed = len(line) < 12 || decimal(line[9:12]) != c.status
	}
	length, chunked := 0, false
	for {
		if line, err = c.reader.ReadSlice('\n'); err != nil {
			return err
		}
		if line = bytes.TrimRight(line, "\r\n"); len(line) == 0 {
			break
		}
		name, value, _ := bytes.Cut(line, []byte(": "))
		switch {
		case bytes.EqualFold(name, []byte("Content-Length")):
			length = decimal(value)
		case bytes.EqualFold(name, []byte("Transfer-Encoding")):
			chunked = true
		}
	}
	if failed {
		body, _ := io.ReadAll(io.LimitReader(c.reader, int64(min(length, 2000))))
		return fmt.Errorf("%s: %s", bytes.SplitN(request, []byte(" HTTP"), 2)[0], body)
	}
	if chunked {
		return c.skipChunks()
	}
	return c.skipBody(length)
}

// skipBody reads a body of n bytes.
func (c *connection) skipBody(n int) error {
	start, err := c.reader.Peek(min(n, 4096))
	if err != nil {
		return err
	}
	if bytes.Contains(start, []byte(`"isError":true`)) {
		return fmt.Errorf("a tool answers %s", start)
	}
	_, err = c.reader.Discard(n)
	return err
}

// skipChunks reads a body in chunks (RFC 9112 section 7.1).
func (c *connection) skipChunks() error {
	for {
		line, err := c.reader.ReadSlice('\n')
		if err != nil {
			return err
		}
		n := 0
		for _, digit := range bytes.TrimRight(line, "\r\n") {
			n = n<<4 + bytes.IndexByte([]byte("0123456789abcdef"), digit)
		}
		if _, err := c.reader.Discard(n + 2); err != nil || n == 0 {
			return err
		}
	}
}

// decimal returns the number that digits are.
func decimal(digits []byte) int {
	n := 0
	for _, digit := range digits {
		n = n*10 + int(digit-'0')
	}
	return n
}
