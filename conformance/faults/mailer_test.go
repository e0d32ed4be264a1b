package faults

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/textproto"
	"strings"
	"sync"
	"time"
)

// result says what a client knows of an attempt to send a message.
type result int

const (
	// incomplete attempts ended before the client sent the end of the message.
	incomplete result = iota
	// unknown attempts got no reply to the end of the message, or one that is not 250.
	unknown
	// acknowledged attempts got 250.
	acknowledged
)

// attempt is one attempt to send a message. Its name is the subject, which no other attempt
// has.
type attempt struct {
	name   string
	to     []string
	result result
	// text is the message, "" for one that content makes up.
	text string
	// id is the message id in the reply.
	id string
}

// mailer sends messages until each got 250, to a server whose address changes.
type mailer struct {
	recipients [][]string
	// least is the number of messages that it sends at least, unless it is stopped.
	least int
	// write returns the message with a number for a recipient; nil means that content makes it up.
	write func(n int, name, to string) string
	// progress receives a value after an acknowledged message.
	progress chan struct{}

	mu       sync.Mutex
	address  string
	changed  chan struct{} // closed when the address changes
	began    int           // messages
	stopped  bool
	attempts []attempt
	done     int // acknowledged messages
	refusals map[string]int
}

func newMailer(least int, recipients [][]string) *mailer {
	return &mailer{least: least, recipients: recipients, progress: make(chan struct{}, 1), changed: make(chan struct{}), refusals: map[string]int{}}
}

// use makes the mailer send to a server.
func (m *mailer) use(address string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.address = address
	close(m.changed)
	m.changed = make(chan struct{})
}

// stop lets the mailer begin no message beyond the least number.
func (m *mailer) stop() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.stopped = true
}

// acknowledged returns the number of messages that got 250.
func (m *mailer) acknowledged() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.done
}

// next returns the number of the next message, false if there is none.
func (m *mailer) next() (int, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.stopped && m.began >= m.least {
		return 0, false
	}
	m.began++
	return m.began, true
}

// run sends over one connection at a time until next has no message. It sends a message again
// until it gets 250.
func (m *mailer) run() {
	var c *textproto.Conn
	for n, more := m.next(); more; n, more = m.next() {
		for try := 1; ; try++ {
			a := attempt{name: fmt.Sprintf("m%06d.%d", n, try), to: m.recipients[n%len(m.recipients)]}
			if m.write != nil {
				a.text = m.write(n, a.name, a.to[0])
			}
			m.mu.Lock()
			address, changed := m.address, m.changed
			m.mu.Unlock()
			var err error
			if c == nil {
				c, err = dial(address)
			}
			if err == nil {
				err = a.send(c)
				m.note(a, err)
			}
			if err == nil {
				break
			}
			if c != nil {
				_ = c.Close() // the error is known
				c = nil
			}
			select {
			case <-changed:
			case <-time.After(20 * time.Millisecond):
			}
		}
	}
	if c != nil {
		_ = c.Close() // everything was acknowledged
	}
}

// note keeps the result of an attempt.
func (m *mailer) note(a attempt, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if reply, ok := errors.AsType[*textproto.Error](err); ok {
		m.refusals[fmt.Sprint(reply.Code)]++
	}
	m.attempts = append(m.attempts, a)
	if a.result != acknowledged {
		return
	}
	m.done++
	select {
	case m.progress <- struct{}{}:
	default:
	}
}

// dial connects to an SMTP server.
func dial(address string) (*textproto.Conn, error) {
	conn, err := net.DialTimeout("tcp", address, 10*time.Second)
	if err != nil {
		return nil, err
	}
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		return nil, err
	}
	c := textproto.NewConn(conn)
	_, _, err = c.ReadResponse(220)
	if err == nil {
		err = command(c, 250, "EHLO client.example.org")
	}
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// send sends the message, and notes how far it came.
func (a *attempt) send(c *textproto.Conn) error {
	if err := command(c, 250, "MAIL FROM:<ada@example.org>"); err != nil {
		return err
	}
	for _, to := range a.to {
		if err := command(c, 250, "RCPT TO:<"+to+">"); err != nil {
			return err
		}
	}
	if err := command(c, 354, "DATA"); err != nil {
		return err
	}
	w := c.DotWriter()
	_, err := io.Copy(w, bufio.NewReader(strings.NewReader(a.content())))
	a.result = unknown // closing w may send a part
	if err := errors.Join(err, w.Close()); err != nil {
		return err
	}
	_, reply, err := c.ReadResponse(250)
	if err != nil {
		return err
	}
	a.result = acknowledged
	a.id = reply[strings.LastIndexByte(reply, ' ')+1:]
	return nil
}

// content returns a message with an attachment, whose parts are objects.
func (a *attempt) content() string {
	if a.text != "" {
		return a.text
	}
	return strings.ReplaceAll(fmt.Sprintf(`From: Ada <ada@example.org>
To: %s
Subject: %s
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary=b

--b
Content-Type: text/plain; charset=utf-8

%s
--b
Content-Type: text/plain; name=terms.txt
Content-Disposition: attachment; filename=terms.txt

The terms of %[2]s
--b--
`, strings.Join(a.to, ", "), a.name, strings.Repeat("Some text of the message. ", 40)), "\n", "\r\n")
}

func command(c *textproto.Conn, code int, line string) error {
	if err := c.PrintfLine("%s", line); err != nil {
		return err
	}
	_, _, err := c.ReadResponse(code)
	return err
}
