package smtpd_test

import (
	"fmt"
	"io"
	"net"
	"net/textproto"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mailhelm/mailhelm/core/inbound/inboundtest"
	"github.com/mailhelm/mailhelm/core/inbound/smtpd"
)

// crowd is a server on pipes, on the clock of a synctest bubble.
type crowd struct {
	*smtpd.Server
	listener *pipes
	intake   *inboundtest.Intake
	running  sync.WaitGroup

	mu      sync.Mutex
	clients []net.Conn
	counted map[string]int
}

// startCrowd runs a server with so many places. All pipes are of one network.
func startCrowd(t *testing.T, places int) *crowd {
	t.Helper()
	c := &crowd{listener: newPipes(), intake: &inboundtest.Intake{}, counted: map[string]int{}}
	encryption, err := smtpd.SelfSigned("mx.example.com", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	c.Server = smtpd.New(configOf(smtpd.Config{
		TLS:    encryption,
		Limits: smtpd.Limits{Connections: places, PerNetwork: 10 * places},
		Count: func(e smtpd.Event, o smtpd.Outcome) {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.counted[fmt.Sprint(e, " ", o)]++
		},
	}, c.intake))
	c.running.Go(func() {
		if err := c.Serve(c.listener); err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	return c
}

// end closes the clients and the server, and waits for both.
func (c *crowd) end(t *testing.T) {
	t.Helper()
	for _, client := range c.clients {
		_ = client.Close()
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	c.running.Wait()
}

// dial connects. What the server writes is buffered, as on a network, unless deaf.
func (c *crowd) dial(deaf bool) net.Conn {
	client, server := net.Pipe()
	c.clients = append(c.clients, client)
	c.listener.conns <- server
	if deaf {
		return client
	}
	b := &buffered{Conn: client, texts: make(chan []byte, 1000)}
	c.running.Go(b.fill)
	return b
}

// buffered is a pipe that reads on its own.
type buffered struct {
	net.Conn
	texts chan []byte
	rest  []byte
}

func (b *buffered) fill() {
	defer close(b.texts)
	for {
		text := make([]byte, 1000)
		n, err := b.Conn.Read(text)
		if err != nil {
			return
		}
		b.texts <- text[:n]
	}
}

func (b *buffered) Read(p []byte) (int, error) {
	if len(b.rest) == 0 {
		text, ok := <-b.texts
		if !ok {
			return 0, io.EOF
		}
		b.rest = text
	}
	n := copy(p, b.rest)
	b.rest = b.rest[n:]
	return n, nil
}

// connect connects, and reads the greeting. The test fails if the greeting comes later than
// within.
func (c *crowd) connect(t *testing.T, within time.Duration) *textproto.Conn {
	t.Helper()
	began := time.Now()
	conn := textproto.NewConn(c.dial(false))
	exchange(t, conn, 220, "")
	if took := time.Since(began); took > within {
		t.Errorf("the greeting came after %v, want within %v", took, within)
	}
	return conn
}

// pause lets the time of the bubble pass.
func pause(d time.Duration) {
	time.Sleep(d) //nolint:forbidigo // on the clock of the bubble; nothing pauses
}

// write sends text and reads no reply.
func write(t *testing.T, conn net.Conn, text string) {
	t.Helper()
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
}

// TestSilentConnectionsAreDisplaced checks that a client gets the place of a connection that has
// sent no complete command for five seconds. The oldest goes first, and learns why.
func TestSilentConnectionsAreDisplaced(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := startCrowd(t, 3)
		defer c.end(t)
		first := c.connect(t, 0)
		pause(time.Second)
		second := c.connect(t, 0)
		pause(500 * time.Millisecond)
		trickle := c.dial(false)
		c.running.Go(func() { // sends a command byte by byte
			for {
				if _, err := io.WriteString(trickle, "N"); err != nil {
					return
				}
				pause(time.Second)
			}
		})
		c.connect(t, 4*time.Second)
		if text := exchange(t, first, 421, ""); !hasCode(text, "4.3.2") {
			t.Errorf("reply %q", text)
		}
		closed(t, first)
		c.connect(t, time.Second)
		exchange(t, second, 421, "")
		c.connect(t, time.Second) // the place of the client that sends byte by byte
		if n := c.counted["connection displaced"]; n != 3 {
			t.Errorf("%d connections were counted as displaced, want 3", n)
		}
	})
}

// TestSilentConnectionsStayWhilePlacesAreFree checks that the five minutes of RFC 5321 hold
// until the places are taken.
func TestSilentConnectionsStayWhilePlacesAreFree(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := startCrowd(t, 3)
		defer c.end(t)
		first := c.connect(t, 0)
		second := c.connect(t, 0)
		pause(4 * time.Minute)
		c.connect(t, 0)
		exchange(t, first, 250, "NOOP")
		exchange(t, second, 250, "NOOP")
	})
}

// TestSendersAreNotDisplaced checks that a client that delivers mail keeps its place while
// clients that deliver none are displaced, also those that send commands all the time.
func TestSendersAreNotDisplaced(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := startCrowd(t, 3)
		defer c.end(t)
		chatty := c.connect(t, 0)
		exchange(t, chatty, 250, "EHLO a")
		sender := c.connect(t, 0)
		exchange(t, sender, 250, "EHLO b")
		transferring := c.connect(t, 0)
		exchange(t, transferring, 250, "EHLO c")
		begin(t, transferring)
		exchange(t, transferring, 354, "DATA")
		for range 21 {
			data(t, sender, 250, "hello\r\n.\r\n")
			exchange(t, chatty, 250, "NOOP")
			sendRaw(t, transferring, strings.Repeat("x", 2000)+"\r\n")
			pause(3 * time.Second)
		}
		c.connect(t, 0)
		exchange(t, chatty, 421, "")
		data(t, sender, 250, "hello\r\n.\r\n")
		sendRaw(t, transferring, ".\r\n")
		exchange(t, transferring, 250, "")
	})
}

// TestOnlySlowTransfersAreDisplaced checks that a transfer gives its place away only if it is
// slower than 500 bytes in a second, after half a minute, and that nothing of it is received.
func TestOnlySlowTransfersAreDisplaced(t *testing.T) {
	t.Parallel()
	for name, command := range map[string]string{"DATA": "DATA\r\n", "BDAT": "BDAT 5000000 LAST\r\n", "chunks": "BDAT 2\r\nxx"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c := startCrowd(t, 2)
				defer c.end(t)
				slow, steady := c.connect(t, 0), c.connect(t, 0)
				for _, conn := range []*textproto.Conn{slow, steady} {
					exchange(t, conn, 250, "EHLO a")
					begin(t, conn)
				}
				exchange(t, steady, 354, "DATA")
				sendRaw(t, slow, command)
				if name != "BDAT" {
					if _, err := slow.ReadLine(); err != nil {
						t.Fatal(err)
					}
				}
				var sending sync.WaitGroup
				sending.Go(func() {
					for range 60 {
						sendRaw(t, steady, strings.Repeat("x", 510)+"\r\n")
						pause(time.Second)
					}
				})
				began := time.Now()
				c.connect(t, time.Minute)
				if took := time.Since(began); took < 30*time.Second || took > 32*time.Second {
					t.Errorf("the place was free after %v, want half a minute", took)
				}
				exchange(t, slow, 421, "")
				sending.Wait()
				sendRaw(t, steady, ".\r\n")
				exchange(t, steady, 250, "")
				if n := len(c.intake.Received()); n != 1 {
					t.Errorf("%d messages were received, want 1", n)
				}
			})
		})
	}
}

// TestHandshakesAreDisplaced checks a client that begins TLS and sends no handshake.
func TestHandshakesAreDisplaced(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := startCrowd(t, 1)
		defer c.end(t)
		first := c.connect(t, 0)
		exchange(t, first, 220, "STARTTLS")
		c.connect(t, 6*time.Second)
		closed(t, first)
	})
}

// TestClientsThatReadNothingAreDisplaced checks a client that sends commands and reads no reply.
func TestClientsThatReadNothingAreDisplaced(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := startCrowd(t, 1)
		defer c.end(t)
		deaf := c.dial(true)
		if _, err := textproto.NewConn(deaf).ReadLine(); err != nil {
			t.Fatal(err)
		}
		write(t, deaf, "NOOP\r\n")
		c.connect(t, 7*time.Second)
	})
}
