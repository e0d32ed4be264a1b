package smtpd_test

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/smtp"
	"net/textproto"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core/inbound/inboundtest"
	"github.com/mailhelm/mailhelm/core/inbound/smtpd"
)

// receivedAt is the time of the injected clock.
var receivedAt = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

// configOf completes a configuration for tests.
func configOf(cfg smtpd.Config, intake *inboundtest.Intake) smtpd.Config {
	cfg.Domain = "mx.example.com"
	cfg.Log = slog.New(slog.DiscardHandler)
	cfg.Clock = func() time.Time { return receivedAt }
	if cfg.Router == nil {
		cfg.Router = inboundtest.Router{}
	}
	if cfg.Intake == nil {
		cfg.Intake = intake
	}
	if cfg.Limits.Tarpit == 0 {
		cfg.Limits.Tarpit = -1
	}
	return cfg
}

// mx is a running server and what it received.
type mx struct {
	*smtpd.Server
	intake *inboundtest.Intake
	addr   string
}

// start runs a server on a free loopback port until the test ends.
func start(t testing.TB, cfg smtpd.Config) *mx {
	t.Helper()
	intake := &inboundtest.Intake{}
	if given, ok := cfg.Intake.(*inboundtest.Intake); ok {
		intake = given
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := smtpd.New(configOf(cfg, intake))
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		if err := <-served; err != nil {
			t.Errorf("Serve ended with %v, want nil", err)
		}
	})
	return &mx{s, intake, l.Addr().String()}
}

func dial(t testing.TB, addr string) *smtp.Client {
	t.Helper()
	c, err := smtp.Dial(addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() }) //nolint:errcheck // may be closed already
	return c
}

// connect opens a connection, reads the greeting and sends EHLO.
func (m *mx) connect(t testing.TB) *textproto.Conn {
	t.Helper()
	_, conn := m.connectRaw(t)
	return conn
}

// connectRaw is connect, and returns the network connection too.
func (m *mx) connectRaw(t testing.TB) (net.Conn, *textproto.Conn) {
	t.Helper()
	raw, err := net.Dial("tcp", m.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { raw.Close() }) //nolint:errcheck // may be closed already
	conn := textproto.NewConn(raw)
	exchange(t, conn, 220, "")
	exchange(t, conn, 250, "EHLO client.example.org")
	return raw, conn
}

// begin begins a message to an inbox.
func begin(t testing.TB, conn *textproto.Conn) {
	t.Helper()
	exchange(t, conn, 250, "MAIL FROM:<ada@example.org>")
	exchange(t, conn, 250, "RCPT TO:<inbox@org.example.com>")
}

// exchange sends the line, unless it is "", and returns the text of the server's reply. The
// test fails if the reply code differs from want.
func exchange(t testing.TB, conn *textproto.Conn, want int, line string) string {
	t.Helper()
	if line != "" {
		if err := conn.PrintfLine("%s", line); err != nil {
			t.Fatal(err)
		}
	}
	_, text, err := conn.ReadResponse(want)
	if err != nil {
		t.Fatalf("%.60q: %v, want %d", line, err, want)
	}
	return text
}

// sendRaw sends bytes as they are.
func sendRaw(t testing.TB, conn *textproto.Conn, text string) {
	t.Helper()
	if _, err := conn.W.WriteString(text); err != nil {
		t.Fatal(err)
	}
	if err := conn.W.Flush(); err != nil {
		t.Fatal(err)
	}
}

// one returns the only received message.
func (m *mx) one(t testing.TB) inboundtest.Received {
	t.Helper()
	all := m.intake.Received()
	if len(all) != 1 {
		t.Fatalf("%d messages were received, want 1", len(all))
	}
	return all[0]
}

// sent returns the message without the Received field of the server.
func sent(t reporter, r inboundtest.Received) string {
	t.Helper()
	rest, ok := bytes.CutPrefix(r.Body, []byte("Received: from "))
	for range 3 {
		_, rest, _ = bytes.Cut(rest, []byte("\r\n"))
	}
	if !ok {
		t.Fatalf("no Received field: %.200q", r.Body)
	}
	return string(rest)
}

// closed checks that the server has closed the connection.
func closed(t testing.TB, conn *textproto.Conn) {
	t.Helper()
	if line, err := conn.ReadLine(); !errors.Is(err, io.EOF) {
		t.Errorf("got %q and %v, want the end of the connection", line, err)
	}
}

// hasCode reports whether an enhanced code begins the text of a reply.
func hasCode(text, enhanced string) bool { return strings.HasPrefix(text, enhanced+" ") }
