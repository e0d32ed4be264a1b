package smtpd

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"time"
)

// The errors of wire.readLine, apart from those of the connection.
var (
	errLongLine    = errors.New("smtpd: command line too long")
	errBareLineEnd = errors.New("smtpd: command line with a CR or LF on its own")
	errStopping    = errors.New("smtpd: the server stops")
)

// wire is the connection of one client. It buffers replies until it must wait for the client,
// so that pipelined commands are answered together (RFC 2920 section 3.2). Its methods are for
// one goroutine, except stop.
type wire struct {
	in  *bufio.Reader
	out *bufio.Writer
	raw net.Conn // without TLS

	mu   sync.Mutex
	conn net.Conn // raw, or TLS over raw
	// end is when waiting for the client ends. pause is the longest time without bytes from the
	// client; 0 means no limit apart from end.
	end   time.Time
	pause time.Duration
	// idle is true while the client has no message in transfer. Then stop ends the wait at once.
	idle, stopping bool
	course         course
}

func newWire(conn net.Conn) *wire {
	w := &wire{raw: conn, conn: conn, course: course{progress: now()}}
	w.in, w.out = bufio.NewReaderSize(inward{w}, 8<<10), bufio.NewWriterSize(outward{w}, 2<<10)
	return w
}

// now returns the time for deadlines of the network.
func now() time.Time { return time.Now() } //nolint:forbidigo // a deadline of the network is real time

// waitForCommand sets the limits of the next reads: a command must be complete at end.
func (w *wire) waitForCommand(end time.Time, idle bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.end, w.pause, w.idle = end, 0, idle
	w.course.asked = now()
}

// waitForData sets the limits of the next reads: data must be complete at end, and come without
// a longer pause.
func (w *wire) waitForData(end time.Time, pause time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.idle {
		w.course.waited, w.course.got = 0, 0
	}
	w.end, w.pause, w.idle = end, pause, false
}

// stop makes reads of commands fail with errStopping, now and later. A transfer continues.
func (w *wire) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopping = true
	if w.idle {
		_ = w.conn.SetReadDeadline(time.Unix(1, 0))
	}
}

// close closes the connection at once. It may be called by any goroutine.
func (w *wire) close() error { return w.raw.Close() }

// replace continues on another connection, after STARTTLS. Bytes that were read from the old
// connection are discarded.
func (w *wire) replace(conn net.Conn) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.conn = conn
	w.in.Reset(inward{w})
	w.out.Reset(outward{w})
}

// tls returns the state of TLS, or nil if the connection is not encrypted.
func (w *wire) tls() *tls.ConnectionState {
	w.mu.Lock()
	defer w.mu.Unlock()
	if conn, ok := w.conn.(*tls.Conn); ok {
		state := conn.ConnectionState()
		return &state
	}
	return nil
}

// inward reads from the connection of a wire, with its limits.
type inward struct{ *wire }

func (w inward) Read(p []byte) (int, error) {
	if err := w.out.Flush(); err != nil {
		return 0, err
	}
	conn, err := w.arm()
	if err != nil {
		return 0, err
	}
	n, err := conn.Read(p)
	w.arrived(n)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		switch {
		case w.isDisplaced():
			err = errDisplaced
		case w.stopped():
			err = errStopping
		}
	}
	return n, err
}

// arm sets the deadline of the next read, and begins the wait.
func (w *wire) arm() (net.Conn, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.course.displaced:
		return nil, errDisplaced
	case w.idle && w.stopping:
		return nil, errStopping
	}
	deadline := w.end
	w.course.since = now()
	if next := w.course.since.Add(w.pause); w.pause > 0 && next.Before(deadline) {
		deadline = next
	}
	return w.conn, w.conn.SetReadDeadline(deadline)
}

func (w *wire) stopped() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.idle && w.stopping
}

// outward writes to the connection of a wire. A client that reads nothing ends the connection.
// A displaced one has less time for the last reply.
type outward struct{ *wire }

func (w outward) Write(p []byte) (int, error) {
	conn, err := w.armWrite()
	if err != nil {
		return 0, err
	}
	defer w.arrived(0)
	return conn.Write(p)
}

// armWrite sets the deadline of the next write, and begins the wait.
func (w *wire) armWrite() (net.Conn, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	timeout := answerTimeout
	if w.course.displaced {
		timeout = displacedTimeout
	}
	w.course.since = now()
	return w.conn, w.conn.SetWriteDeadline(w.course.since.Add(timeout))
}

// readLine returns the next command line without CR LF.
func (w *wire) readLine() (string, error) {
	line, err := w.in.ReadSlice('\n')
	switch {
	case len(line) > maxLine || errors.Is(err, bufio.ErrBufferFull):
		return "", errLongLine
	case err != nil:
		return "", err
	}
	text, ok := bytes.CutSuffix(line, []byte("\r\n"))
	if !ok || bytes.IndexByte(text, '\r') >= 0 {
		return "", errBareLineEnd
	}
	return string(text), nil
}

// reply writes a reply of one line. enhanced is a code of RFC 3463, or "".
func (w *wire) reply(code int, enhanced, text string) {
	if enhanced != "" {
		text = enhanced + " " + text
	}
	w.replyLines(code, text)
}

// replyLines writes a reply. An error of the connection appears at the next read.
func (w *wire) replyLines(code int, lines ...string) {
	for i, line := range lines {
		separator := "-"
		if i == len(lines)-1 {
			separator = " "
		}
		fmt.Fprintf(w.out, "%d%s%s\r\n", code, separator, line)
	}
}

// linger ends the connection so that the client can read the last reply. Closing a connection
// with unread input would reset it, and the reply could be lost. It does not wait for a client
// that is displaced: that would keep the place.
func (w *wire) linger() {
	if w.out.Flush() != nil || w.isDisplaced() {
		return
	}
	w.mu.Lock()
	conn := w.conn
	w.mu.Unlock()
	half, ok := conn.(interface{ CloseWrite() error })
	if !ok || half.CloseWrite() != nil {
		return
	}
	const most, patience = 256 << 10, time.Second
	w.waitForData(now().Add(patience), 0)
	for n := 0; n < most; {
		read, err := w.in.Discard(max(1, w.in.Buffered()))
		if n += read; err != nil {
			return
		}
	}
}

// printable returns the text with "?" in place of every character that must not be in a
// comment or domain of a Received field.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || strings.ContainsRune("-._:[]", r) {
			return r
		}
		return '?'
	}, text)
}
