package smtpd_test

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/smtp"
	"net/textproto"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mailhelm/mailhelm/core/inbound/inboundtest"
	"github.com/mailhelm/mailhelm/core/inbound/smtpd"
)

func TestNoRelayByAuthentication(t *testing.T) {
	t.Parallel()
	addr := start(t, smtpd.Config{}).addr
	c := dial(t, addr)
	if offered, _ := c.Extension("AUTH"); offered {
		t.Error("AUTH is offered")
	}
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Auth(smtp.PlainAuth("", "user", "password", host)); err == nil {
		t.Error("AUTH was accepted")
	}
}

func TestSizeIsAnnouncedAndHeld(t *testing.T) {
	t.Parallel()
	addr := start(t, smtpd.Config{}).addr
	conn, err := textproto.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close() //nolint:errcheck // the test is over
	exchange(t, conn, 220, "")
	if text := exchange(t, conn, 250, "EHLO client.example.org"); !strings.Contains(text, "SIZE 26214400") {
		t.Errorf("EHLO does not announce the size limit:\n%s", text)
	}
	exchange(t, conn, 552, "MAIL FROM:<ada@example.org> SIZE=26214401")
	exchange(t, conn, 250, "MAIL FROM:<ada@example.org> SIZE=1000")
}

func TestOverlongLineEndsTheConnection(t *testing.T) {
	t.Parallel()
	addr := start(t, smtpd.Config{}).addr
	conn, err := textproto.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close() //nolint:errcheck // the test is over
	exchange(t, conn, 220, "")
	// A close with unread input would reset the connection before the reply arrives.
	exchange(t, conn, 500, "EHLO "+strings.Repeat("x", 2500))
	if _, err := conn.ReadLine(); !errors.Is(err, io.EOF) {
		t.Errorf("after the reply: %v, want the end of the connection", err)
	}
}

func TestSilentClientIsDropped(t *testing.T) {
	t.Parallel()
	addr := start(t, smtpd.Config{Limits: smtpd.Limits{CommandTimeout: 30 * time.Millisecond}}).addr
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close() //nolint:errcheck // the test is over
	all, err := io.ReadAll(bufio.NewReader(conn))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(all), "\r\n421 ") {
		t.Errorf("got %q, want a greeting and then 421", all)
	}
}

// TestSilenceEndsAfterFiveMinutes checks that the server ends a connection with 421 after five
// minutes without a complete command (RFC 5321 section 4.5.3.2.7). It tests clients that send no command, only one
// command, or a line byte by byte.
func TestSilenceEndsAfterFiveMinutes(t *testing.T) {
	t.Parallel()
	for name, talk := range map[string]func(io.Writer){
		"nothing":     func(io.Writer) {},
		"one command": func(w io.Writer) { _, _ = io.WriteString(w, "NOOP\r\n") },
		"byte by byte": func(w io.Writer) {
			for range 50 {
				time.Sleep(20 * time.Second) //nolint:forbidigo // on the clock of the bubble; nothing pauses
				if _, err := io.WriteString(w, "N"); err != nil {
					return
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				l := newPipes()
				s := smtpd.New(configOf(smtpd.Config{}, &inboundtest.Intake{}))
				var running sync.WaitGroup
				running.Go(func() { _ = s.Serve(l) })
				client, server := net.Pipe()
				began := time.Now()
				l.conns <- server
				running.Go(func() { talk(client) })
				all, err := io.ReadAll(client)
				if took := time.Since(began); took != 5*time.Minute || !strings.Contains(string(all), "\r\n421 ") {
					t.Errorf("ended after %v: %q, %v", took, all, err)
				}
				_ = client.Close()
				if err := s.Close(); err != nil {
					t.Error(err)
				}
				running.Wait()
			})
		})
	}
}

// dialFrom connects to addr from the loopback address in the parameter from. The server
// counts loopback addresses such as 127.0.7.1 and 127.0.8.1 as different networks.
func dialFrom(t *testing.T, from, addr string) *textproto.Conn {
	t.Helper()
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	conn, err := dialer.DialContext(t.Context(), "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() }) //nolint:errcheck // may be closed already
	return textproto.NewConn(conn)
}

// TestOneNetworkDoesNotTakeAllConnections checks that the server refuses a network above
// its limit with 421 and still serves another network. After a connection is closed, the
// network may open a new one.
func TestOneNetworkDoesNotTakeAllConnections(t *testing.T) {
	t.Parallel()
	addr := start(t, smtpd.Config{}).addr
	const share = 32
	var held []*textproto.Conn
	for i := range share {
		c := dialFrom(t, "127.0.7."+strconv.Itoa(1+i), addr)
		exchange(t, c, 220, "")
		held = append(held, c)
	}
	for range 3 {
		refused := dialFrom(t, "127.0.7.200", addr)
		if text := exchange(t, refused, 421, ""); !strings.HasPrefix(text, "4.7.0 ") {
			t.Errorf("refused with %q", text)
		}
		if _, err := refused.ReadLine(); err == nil {
			t.Error("a refused connection stays open")
		}
	}
	exchange(t, dialFrom(t, "127.0.8.1", addr), 220, "")
	exchange(t, held[0], 221, "QUIT")
	if _, err := held[0].ReadLine(); err == nil {
		t.Error("QUIT leaves the connection open")
	}
	deadline := time.Now().Add(20 * time.Second)
	for {
		code, _, err := dialFrom(t, "127.0.7.201", addr).ReadResponse(220)
		if err == nil {
			break
		}
		if code != 421 || time.Now().After(deadline) {
			t.Fatalf("the place of a connection that ended: %v", err)
		}
	}
}

func TestCloseEndsIdleConnections(t *testing.T) {
	t.Parallel()
	s := start(t, smtpd.Config{})
	c := dial(t, s.addr)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := c.Noop(); err == nil {
		t.Error("an idle connection outlived Close")
	}
	if err := s.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
}

func TestServeAfterCloseReturns(t *testing.T) {
	t.Parallel()
	s := smtpd.New(configOf(smtpd.Config{}, &inboundtest.Intake{}))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Serve(l); err != nil {
		t.Errorf("Serve: %v, want nil", err)
	}
	if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("the listener is still open (%v)", err)
	}
}
