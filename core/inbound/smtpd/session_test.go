package smtpd_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mailhelm/mailhelm/core/inbound/smtpd"
)

func TestExtensions(t *testing.T) {
	t.Parallel()
	m := start(t, smtpd.Config{})
	conn := m.connect(t)
	text := exchange(t, conn, 250, "EHLO client.example.org")
	want := "mx.example.com\nPIPELINING\n8BITMIME\nSMTPUTF8\nCHUNKING\nENHANCEDSTATUSCODES\nSIZE 26214400"
	if text != want {
		t.Errorf("EHLO: got\n%s\nwant\n%s", text, want)
	}
	if text := exchange(t, conn, 250, "HELO client.example.org"); text != "mx.example.com" {
		t.Errorf("HELO: %q", text)
	}
}

func TestReplies(t *testing.T) {
	t.Parallel()
	m := start(t, smtpd.Config{})
	for _, c := range []struct {
		line     string
		code     int
		enhanced string
	}{
		{"NOOP", 250, "2.0.0"},
		{"noop with text", 250, "2.0.0"},
		{"RSET", 250, "2.0.0"},
		{"VRFY ada", 252, "2.5.0"},
		{"EXPN staff", 502, "5.5.1"},
		{"HELP", 214, "2.0.0"},
		{"STARTTLS", 502, "5.5.1"},
		{"AUTH PLAIN AGEAYg==", 500, "5.5.2"},
		{"XYZZY", 500, "5.5.2"},
		{" NOOP", 500, "5.5.2"},
		{"", 500, "5.5.2"},
		{"EHLO", 501, "5.5.4"},
		{"EHLO \x01", 501, "5.5.4"},
		{"EHLO grüße", 501, "5.5.4"},
		{"DATA", 503, "5.5.1"},
		{"DATA now", 501, "5.5.4"},
		{"RCPT TO:<inbox@org.example.com>", 503, "5.5.1"},
		{"BDAT 0 LAST", 503, "5.5.1"},
		{"QUIT", 221, "2.0.0"},
	} {
		conn := m.connect(t)
		sendRaw(t, conn, c.line+"\r\n")
		if text := exchange(t, conn, c.code, ""); !hasCode(text, c.enhanced) {
			t.Errorf("%q: %q, want %s", c.line, text, c.enhanced)
		}
	}
}

func TestOrderOfCommands(t *testing.T) {
	t.Parallel()
	m := start(t, smtpd.Config{})
	conn := m.connect(t)
	exchange(t, conn, 250, "MAIL FROM:<ada@example.org>")
	exchange(t, conn, 503, "MAIL FROM:<ada@example.org>")
	if text := exchange(t, conn, 554, "DATA"); !hasCode(text, "5.5.1") {
		t.Errorf("DATA without recipients: %q", text)
	}
	exchange(t, conn, 250, "RCPT TO:<inbox@org.example.com>")
	exchange(t, conn, 250, "RSET")
	exchange(t, conn, 503, "RCPT TO:<inbox@org.example.com>")
	begin(t, conn)
	exchange(t, conn, 250, "EHLO client.example.org")
	exchange(t, conn, 503, "DATA")
}

func TestGreetingFirst(t *testing.T) {
	t.Parallel()
	m := start(t, smtpd.Config{})
	conn := dialFrom(t, "127.0.0.1", m.addr)
	exchange(t, conn, 220, "")
	exchange(t, conn, 503, "MAIL FROM:<ada@example.org>")
}

// TestPipelining checks that commands sent at once get their replies in order.
func TestPipelining(t *testing.T) {
	t.Parallel()
	m := start(t, smtpd.Config{})
	conn := m.connect(t)
	sendRaw(t, conn, "MAIL FROM:<ada@example.org>\r\nRCPT TO:<unknown@org.example.com>\r\nRCPT TO:<inbox@org.example.com>\r\nDATA\r\n")
	for _, want := range []int{250, 550, 250, 354} {
		exchange(t, conn, want, "")
	}
	sendRaw(t, conn, "hello\r\n.\r\nMAIL FROM:<ada@example.org>\r\nQUIT\r\n")
	for _, want := range []int{250, 250, 221} {
		exchange(t, conn, want, "")
	}
	closed(t, conn)
	if got := sent(t, m.one(t)); got != "hello\r\n" {
		t.Errorf("got %q", got)
	}
}

// TestMessageIsNotExecuted checks that a message which a client sends without waiting for 354
// is not taken for commands when DATA is refused.
func TestMessageIsNotExecuted(t *testing.T) {
	t.Parallel()
	m := start(t, smtpd.Config{})
	conn := m.connect(t)
	sendRaw(t, conn, "MAIL FROM:<a@example.org>\r\nRCPT TO:<unknown@org.example.com>\r\nDATA\r\nRSET\r\nMAIL FROM:<b@example.org>\r\nRCPT TO:<inbox@org.example.com>\r\nBDAT 0 LAST\r\n")
	for _, want := range []int{250, 550, 554} {
		exchange(t, conn, want, "")
	}
	closed(t, conn)
	if n := len(m.intake.Received()); n != 0 {
		t.Errorf("%d messages were received", n)
	}
}

func TestCommandLineEnds(t *testing.T) {
	t.Parallel()
	m := start(t, smtpd.Config{})
	for _, raw := range []string{"NOOP\nNOOP\r\n", "NOOP\n", "NOOP\rNOOP\r\n", "NOOP\r\r\n", "NOOP x\r\x00\n"} {
		conn := m.connect(t)
		sendRaw(t, conn, raw)
		exchange(t, conn, 500, "")
		closed(t, conn)
	}
}

func TestOtherProtocolsEndTheConnection(t *testing.T) {
	t.Parallel()
	m := start(t, smtpd.Config{})
	conn := m.connect(t)
	sendRaw(t, conn, "POST / HTTP/1.1\r\nHost: mx.example.com\r\n\r\nMAIL FROM:<a@example.org>\r\n")
	exchange(t, conn, 521, "")
	closed(t, conn)
}

func TestErrorsAndCommandsAreLimited(t *testing.T) {
	t.Parallel()
	m := start(t, smtpd.Config{Limits: smtpd.Limits{Messages: 2}})
	conn := m.connect(t)
	for range 10 {
		exchange(t, conn, 500, "XYZZY")
	}
	exchange(t, conn, 421, "XYZZY")
	closed(t, conn)

	conn = m.connect(t)
	sendRaw(t, conn, strings.Repeat("NOOP\r\n", 1000))
	for range 999 {
		exchange(t, conn, 250, "")
	}
	exchange(t, conn, 421, "")
	closed(t, conn)

	conn = m.connect(t)
	for range 2 {
		data(t, conn, 250, ".\r\n")
	}
	exchange(t, conn, 421, "MAIL FROM:<ada@example.org>")
	closed(t, conn)
}

// TestStallingEnds checks that a client cannot keep a connection with commands alone.
func TestStallingEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := startPipe(t, smtpd.Config{})
		began := time.Now()
		for range 7 {
			time.Sleep(4 * time.Minute) //nolint:forbidigo // on the clock of the bubble; nothing pauses
			exchange(t, p.conn, 250, "NOOP")
		}
		exchange(t, p.conn, 421, "")
		if took := time.Since(began); took != 30*time.Minute {
			t.Errorf("ended after %v", took)
		}
		p.end(t)
	})
}

// TestCounts checks the events and outcomes for metrics.
func TestCounts(t *testing.T) {
	t.Parallel()
	counted := make(chan string, 100)
	m := start(t, smtpd.Config{Limits: smtpd.Limits{MessageBytes: 100}, Count: func(e smtpd.Event, o smtpd.Outcome) { counted <- fmt.Sprint(e, " ", o) }})
	conn := m.connect(t)
	if m.Open() != 1 {
		t.Errorf("%d connections are open", m.Open())
	}
	data(t, conn, 250, ".\r\n")
	data(t, conn, 552, strings.Repeat("x", 101)+"\r\n.\r\n")
	data(t, conn, 554, "a\nb\r\n.\r\n")
	conn = m.connect(t)
	exchange(t, conn, 250, "MAIL FROM:<>")
	exchange(t, conn, 550, "RCPT TO:<unknown@org.example.com>")
	exchange(t, conn, 550, "RCPT TO:<a@elsewhere.example>")
	exchange(t, conn, 451, "RCPT TO:<error@org.example.com>")
	want := []string{
		"connection accepted", "recipient accepted", "message accepted", "recipient accepted", "message too_large",
		"recipient accepted", "message bare_line_end", "connection accepted", "recipient no_such_inbox", "recipient not_ours", "recipient failed",
	}
	for i, one := range want {
		if got := <-counted; got != one {
			t.Errorf("event %d: %s, want %s", i+1, got, one)
		}
	}
}
