package smtpd_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/textproto"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mailhelm/mailhelm/core/inbound"
	"github.com/mailhelm/mailhelm/core/inbound/inboundtest"
	"github.com/mailhelm/mailhelm/core/inbound/smtpd"
)

// data begins a message, sends the lines after 354 as they are, and returns the reply.
func data(t testing.TB, conn *textproto.Conn, want int, raw string) string {
	t.Helper()
	begin(t, conn)
	exchange(t, conn, 354, "DATA")
	sendRaw(t, conn, raw)
	return exchange(t, conn, want, "")
}

// chunksOf begins a message and sends it in chunks. It returns the last reply.
func chunksOf(t testing.TB, conn *textproto.Conn, want int, parts ...string) string {
	t.Helper()
	begin(t, conn)
	for i, part := range parts {
		code, last := 250, ""
		if i == len(parts)-1 {
			code, last = want, " LAST"
		}
		sendRaw(t, conn, fmt.Sprintf("BDAT %d%s\r\n%s", len(part), last, part))
		text := exchange(t, conn, code, "")
		if last != "" {
			return text
		}
	}
	return ""
}

func TestReceivedField(t *testing.T) {
	t.Parallel()
	m := start(t, smtpd.Config{})
	conn := m.connect(t)
	exchange(t, conn, 250, `EHLO evil)by(x;"a`)
	data(t, conn, 250, "Subject: hello\r\n\r\nhello\r\n.\r\n")
	got := m.one(t)
	want := "Received: from evil?by?x??a ([127.0.0.1])\r\n\tby mx.example.com with ESMTP id " + got.Envelope.ID +
		";\r\n\tWed, 04 Mar 2026 05:06:07 +0000\r\nSubject: hello\r\n\r\nhello\r\n"
	if string(got.Body) != want {
		t.Errorf("got\n%q, want\n%q", got.Body, want)
	}
	if got.Envelope.Helo != `evil)by(x;"a` {
		t.Errorf("Helo %q", got.Envelope.Helo)
	}
}

// TestContentIsUnchanged checks messages with content that is easily changed on the way.
func TestContentIsUnchanged(t *testing.T) {
	t.Parallel()
	m := start(t, smtpd.Config{})
	conn := m.connect(t)
	for i, message := range []string{
		"", "\r\n", "a\r\n", ".\r\n", "..\r\n.a\r\n...\r\n", "a\x00b\x00\r\n", "\xff\xfe grüße\r\n",
		strings.Repeat("x", 100_000) + "\r\n", strings.Repeat("x", 8190) + "\r\n.\r\n", strings.Repeat("x", 8191) + "\r\n.\r\n", strings.Repeat("x", 8192) + "\r\n.\r\n",
		"Subject: a\r\n\r\n" + strings.Repeat("line\r\n", 50_000),
	} {
		data(t, conn, 250, stuff(message)+".\r\n")
		chunksOf(t, conn, 250, message)
		half := len(message) / 2
		chunksOf(t, conn, 250, message[:half], "", message[half:], "")
		all := m.intake.Received()
		if len(all) != 3*(i+1) {
			t.Fatalf("%d messages were received, want %d", len(all), 3*(i+1))
		}
		for _, got := range all[3*i:] {
			if sent(t, got) != message {
				t.Errorf("got %.100q, want %.100q", sent(t, got), message)
			}
		}
	}
}

// stuff doubles the dots at the begin of lines (RFC 5321 section 4.5.2).
func stuff(message string) string {
	message = strings.ReplaceAll(message, "\r\n.", "\r\n..")
	if strings.HasPrefix(message, ".") {
		message = "." + message
	}
	return message
}

func TestMessageWithoutLineEndInChunks(t *testing.T) {
	t.Parallel()
	m := start(t, smtpd.Config{})
	chunksOf(t, m.connect(t), 250, "Subject: a\r", "\n\r\nno line end")
	if got := sent(t, m.one(t)); got != "Subject: a\r\n\r\nno line end" {
		t.Errorf("got %q", got)
	}
}

func TestRefusedMessages(t *testing.T) {
	t.Parallel()
	m := start(t, smtpd.Config{Limits: smtpd.Limits{MessageBytes: 10_000}})
	loop := strings.Repeat("rEceived: from a by b\r\n", 101) + "\r\nhello\r\n"
	for _, c := range []struct {
		message, enhanced string
		code              int
	}{
		{strings.Repeat("x", 9998) + "\r\n", "2.0.0", 250},
		{strings.Repeat("x", 9999) + "\r\n", "5.3.4", 552},
		{strings.Repeat("x\r\n", 10_000), "5.3.4", 552},
		{loop, "5.4.6", 554},
		{loop[len("rEceived: from a by b\r\n"):], "2.0.0", 250},
		{"Subject: a\r\n\r\n" + loop, "2.0.0", 250}, // not in the header
		{"a\nb\r\n", "5.6.0", 554},
		{"a\rb\r\n", "5.6.0", 554},
		{"a\r\r\n", "5.6.0", 554},
	} {
		conn := m.connect(t)
		if text := data(t, conn, c.code, stuff(c.message)+".\r\n"); !hasCode(text, c.enhanced) {
			t.Errorf("DATA %.40q: %q, want %s", c.message, text, c.enhanced)
		}
		if c.enhanced == "5.6.0" {
			closed(t, conn)
			conn = m.connect(t)
		}
		if text := chunksOf(t, conn, c.code, c.message); !hasCode(text, c.enhanced) {
			t.Errorf("BDAT %.40q: %q, want %s", c.message, text, c.enhanced)
		}
	}
	if n := len(m.intake.Received()); n != 6 {
		t.Errorf("%d messages were accepted, want 6", n)
	}
	if text := chunksOf(t, m.connect(t), 554, "a\r\nb\r"); !hasCode(text, "5.6.0") {
		t.Errorf("a CR at the end: %q", text)
	}
}

// TestFaultInAChunk checks that the chunk with the fault is refused, and that further chunks of
// the message are not taken for commands.
func TestFaultInAChunk(t *testing.T) {
	t.Parallel()
	m := start(t, smtpd.Config{Limits: smtpd.Limits{MessageBytes: 6}})
	conn := m.connect(t)
	begin(t, conn)
	sendRaw(t, conn, "BDAT 4\r\na\r\nbBDAT 4\r\ncdefBDAT 6\r\nRSET\r\nBDAT 6 LAST\r\nQUIT\r\nNOOP\r\n")
	for i, want := range []int{250, 552, 503, 503, 250} {
		if _, _, err := conn.ReadResponse(want); err != nil {
			t.Fatalf("reply %d: %v, want %d", i+1, err, want)
		}
	}
	if m.intake.Broken() != 1 || len(m.intake.Received()) != 0 {
		t.Errorf("%d messages were broken, %d received", m.intake.Broken(), len(m.intake.Received()))
	}
}

func TestCommandsBetweenChunks(t *testing.T) {
	t.Parallel()
	m := start(t, smtpd.Config{})
	conn := m.connect(t)
	begin(t, conn)
	sendRaw(t, conn, "BDAT 2\r\nab")
	if text := exchange(t, conn, 250, ""); text != "2.0.0 2 bytes received" {
		t.Errorf("reply %q", text)
	}
	exchange(t, conn, 250, "NOOP")
	for _, line := range []string{"MAIL FROM:<>", "RCPT TO:<inbox@org.example.com>", "DATA", "VRFY x", "STARTTLS"} {
		exchange(t, conn, 503, line)
	}
	exchange(t, conn, 250, "RSET")
	exchange(t, conn, 503, "BDAT 0 LAST")
	begin(t, conn)
	sendRaw(t, conn, "BDAT 2\r\nab")
	exchange(t, conn, 250, "")
	exchange(t, conn, 250, "EHLO again.example.org")
	if m.intake.Broken() != 2 {
		t.Errorf("%d messages were broken, want 2", m.intake.Broken())
	}
	chunksOf(t, conn, 250, "ab", "cd")
	if got := sent(t, m.one(t)); got != "abcd" {
		t.Errorf("got %q", got)
	}
	begin(t, conn)
	sendRaw(t, conn, "BDAT 2\r\nab")
	exchange(t, conn, 250, "")
	exchange(t, conn, 221, "QUIT")
	closed(t, conn)
}

func TestChunkWithoutSizeEndsTheConnection(t *testing.T) {
	t.Parallel()
	m := start(t, smtpd.Config{})
	for _, arg := range []string{"", "x", "-1", "5 FIRST", "5 LAST x", "99999999999999999999"} {
		conn := m.connect(t)
		begin(t, conn)
		exchange(t, conn, 501, strings.TrimRight("BDAT "+arg, " "))
		closed(t, conn)
	}
	conn := m.connect(t)
	begin(t, conn)
	sendRaw(t, conn, "BDAT 1\r\naBDAT\r\nRSET\r\n")
	exchange(t, conn, 250, "")
	exchange(t, conn, 501, "")
	closed(t, conn)
}

func TestManyChunks(t *testing.T) {
	t.Parallel()
	m := start(t, smtpd.Config{})
	parts := make([]string, 3000)
	for i := range parts {
		parts[i] = "x"
	}
	chunksOf(t, m.connect(t), 250, parts...)
	if got := sent(t, m.one(t)); got != strings.Repeat("x", 3000) {
		t.Errorf("%d bytes were received", len(got))
	}
	// Empty chunks are not bounded by the size limit, but as commands.
	conn := m.connect(t)
	begin(t, conn)
	for range 996 {
		exchange(t, conn, 250, "BDAT 0")
	}
	sendRaw(t, conn, "BDAT 0\r\nBDAT 0\r\n")
	exchange(t, conn, 250, "")
	exchange(t, conn, 421, "")
}

// TestIntakeFails checks that the client gets a temporary error, and that the connection can be
// used for the next message, whether the intake has read the message or not.
func TestIntakeFails(t *testing.T) {
	t.Parallel()
	full := errors.New("the disk is full")
	for name, intake := range map[string]*inboundtest.Intake{
		"before": {Before: func(context.Context, inbound.Envelope) error { return full }},
		"after":  {After: func(context.Context, inbound.Envelope) error { return full }},
		"panic":  {After: func(context.Context, inbound.Envelope) error { panic("a fault") }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := start(t, smtpd.Config{Intake: intake})
			conn := m.connect(t)
			long := strings.Repeat("line\r\n", 20_000)
			for range 2 {
				if text := data(t, conn, 451, long+".\r\n"); !hasCode(text, "4.3.0") || strings.Contains(text, "full") {
					t.Errorf("DATA: %q", text)
				}
				if text := chunksOf(t, conn, 451, long); !hasCode(text, "4.3.0") {
					t.Errorf("BDAT: %q", text)
				}
			}
			exchange(t, conn, 250, "NOOP")
			if len(m.intake.Received()) != 0 {
				t.Error("a message was received")
			}
		})
	}
}

// lazy is an intake that says it accepted a message without reading it.
type lazy struct{}

func (lazy) Accept(context.Context, inbound.Envelope, io.Reader) error { return nil }

func TestUnreadMessageIsNotAccepted(t *testing.T) {
	t.Parallel()
	m := start(t, smtpd.Config{Intake: lazy{}})
	chunksOf(t, m.connect(t), 451, "a\r\n")
	if text := data(t, m.connect(t), 554, "a\nb\r\n.\r\n"); !hasCode(text, "5.6.0") {
		t.Errorf("a bare LF: %q", text)
	}
}

// TestInterruptedMessage checks that a message of which the end is missing is not accepted.
func TestInterruptedMessage(t *testing.T) {
	t.Parallel()
	for name, raw := range map[string]string{
		"data": "DATA\r\nSubject: a\r\n\r\nhello\r\n.\r", "chunk": "BDAT 100 LAST\r\nSubject: a\r\n\r\nhello\r\n", "chunks": "BDAT 3\r\na\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked := make(chan error, 1)
			m := start(t, smtpd.Config{Intake: readsAll(asked)})
			conn := m.connect(t)
			begin(t, conn)
			sendRaw(t, conn, raw)
			_ = conn.Close()
			// Depending on the moment, the connection ends or is reset.
			if err := <-asked; errors.Is(err, errComplete) {
				t.Error("the intake read a complete message")
			}
		})
	}
}

var errComplete = errors.New("the message is complete")

// readsAll is an intake that reads a message and sends the error.
type readsAll chan error

func (r readsAll) Accept(_ context.Context, _ inbound.Envelope, body io.Reader) error {
	_, err := io.Copy(io.Discard, body)
	if err == nil {
		err = errComplete
	}
	r <- err
	return err
}

// TestSlowMessages checks the two time limits of a transfer.
func TestSlowMessages(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		every time.Duration
		want  time.Duration
		first string
		reply int
	}{
		"silence":           {time.Hour, 5 * time.Minute, "DATA\r\n", 421},
		"byte by byte":      {time.Minute, 30 * time.Minute, "DATA\r\n", 421},
		"silence in chunk":  {time.Hour, 5 * time.Minute, "BDAT 100 LAST\r\n", 421},
		"slow chunk":        {time.Minute, 30 * time.Minute, "BDAT 100 LAST\r\n", 421},
		"end with bare LF":  {time.Hour, 5 * time.Minute, "DATA\r\nhello\n.\n", 554},
		"end with bare CRs": {time.Hour, 5 * time.Minute, "DATA\r\nhello\r.\r", 554},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := startPipe(t, smtpd.Config{})
				exchange(t, p.conn, 250, "EHLO client.example.org")
				begin(t, p.conn)
				sendRaw(t, p.conn, c.first)
				if strings.HasPrefix(c.first, "DATA") {
					exchange(t, p.conn, 354, "")
				}
				began := time.Now()
				ticker := time.NewTicker(c.every)
				defer ticker.Stop()
				ended := make(chan struct{})
				p.running.Go(func() {
					for {
						select {
						case <-ticker.C:
							_, _ = p.raw.Write([]byte("x"))
						case <-ended:
							return
						}
					}
				})
				code, _, err := p.conn.ReadResponse(c.reply)
				if took := time.Since(began); err != nil || took != c.want {
					t.Errorf("the reply %d came after %v, want %d after %v", code, took, c.reply, c.want)
				}
				close(ended)
				p.end(t)
				if n := len(p.intake.Received()); n != 0 {
					t.Errorf("%d messages were accepted", n)
				}
			})
		})
	}
}
