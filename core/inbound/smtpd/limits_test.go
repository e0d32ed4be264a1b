package smtpd_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core/inbound/smtpd"
)

// TestMessagesOfANetworkAreLimited checks the limit with a client at 192.0.2.1. Clients on this
// machine have no limit.
func TestMessagesOfANetworkAreLimited(t *testing.T) {
	t.Parallel()
	limits := smtpd.Limits{MessagesOfNetwork: 3}
	mails := "EHLO a\r\n" + strings.Repeat("MAIL FROM:<>\r\nRSET\r\n", 5)
	replies, _ := script(t, limits, []byte(mails), 4096)
	if n := strings.Count(replies, "\r\n451 4.7.1 "); n != 2 || strings.Count(replies, "\r\n250 2.1.0 ") != 3 {
		t.Errorf("%d of 5 messages were refused, want 2:\n%s", n, replies)
	}
	conn := start(t, smtpd.Config{Limits: limits}).connect(t)
	for range 5 {
		data(t, conn, 250, ".\r\n")
	}
}

// TestLongLine checks a line that is longer than a message may be.
func TestLongLine(t *testing.T) {
	t.Parallel()
	m := start(t, smtpd.Config{})
	conn := m.connect(t)
	if text := data(t, conn, 552, strings.Repeat("x", 64<<20)+"\r\n.\r\n"); !hasCode(text, "5.3.4") {
		t.Errorf("reply %q", text)
	}
	exchange(t, conn, 250, "NOOP")
}

// TestEndlessMessage checks that the server does not read a refused message without end.
func TestEndlessMessage(t *testing.T) {
	t.Parallel()
	for _, begin := range []string{"DATA\r\n", "BDAT 999999999 LAST\r\n"} {
		input := opening + begin + strings.Repeat("line\r\n", 20_000) + "NOOP\r\n"
		replies, got := script(t, smtpd.Limits{MessageBytes: 1000}, []byte(input), 512)
		if !strings.HasSuffix(replies, "\r\n552 5.3.4 Message is larger than this server accepts\r\n") || len(got) != 0 {
			t.Errorf("%q: %d messages were received:\n%s", begin, len(got), replies)
		}
	}
}

// TestConnectionsAreLimited checks that a connection above the limit waits until another ends.
func TestConnectionsAreLimited(t *testing.T) {
	t.Parallel()
	m := start(t, smtpd.Config{Limits: smtpd.Limits{Connections: 1}})
	first := m.connect(t)
	greeted := make(chan error, 1)
	second := dialFrom(t, "127.0.9.1", m.addr)
	go func() {
		_, _, err := second.ReadResponse(220)
		greeted <- err
	}()
	exchange(t, first, 250, "NOOP")
	select {
	case err := <-greeted:
		t.Errorf("a second connection was served: %v", err)
	case <-time.After(50 * time.Millisecond): // a wrong server would greet within this time
	}
	exchange(t, first, 221, "QUIT")
	if err := <-greeted; err != nil {
		t.Error(err)
	}
}

// TestRefusedConnectionsAreCounted checks the count of connections above the limit of a network.
func TestRefusedConnectionsAreCounted(t *testing.T) {
	t.Parallel()
	counted := make(chan string, 10)
	m := start(t, smtpd.Config{Limits: smtpd.Limits{PerNetwork: 1}, Count: func(e smtpd.Event, o smtpd.Outcome) { counted <- fmt.Sprint(e, " ", o) }})
	m.connect(t)
	exchange(t, dialFrom(t, "127.0.0.2", m.addr), 421, "")
	for _, want := range []string{"connection accepted", "connection too_many"} {
		if got := <-counted; got != want {
			t.Errorf("counted %s, want %s", got, want)
		}
	}
}
