package smtpd_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mailhelm/mailhelm/core/inbound"
	"github.com/mailhelm/mailhelm/core/inbound/smtpd"
)

func TestRepliesToRecipients(t *testing.T) {
	t.Parallel()
	m := start(t, smtpd.Config{})
	for _, c := range []struct {
		to, enhanced string
		code         int
	}{
		{"<inbox@org.example.com>", "2.1.5", 250},
		{"<inbox@ORG.example.com>", "2.1.5", 250},
		{" <@relay.example,@b.example:inbox@org.example.com>", "2.1.5", 250},
		{`<"a b>\"@c"@org.example.com>`, "2.1.5", 250},
		{"<unknown@org.example.com>", "5.1.1", 550},
		{"<Postmaster>", "5.1.1", 550},
		{"<someone@elsewhere.example>", "5.7.1", 550},
		{`<"a@b"@elsewhere.example>`, "5.7.1", 550},
		{"<someone%elsewhere.example@elsewhere.example>", "5.7.1", 550},
		{"<inbox@[127.0.0.1]>", "5.7.1", 550},
		{"<error@org.example.com>", "4.3.0", 451},
		{"<inbox@other.example.com>", "4.5.3", 452},
		{"inbox@org.example.com", "5.5.4", 501},
		{"<inbox@org.example.com", "5.5.4", 501},
		{"<inbox@org.example.com> NOTIFY=NEVER", "5.5.4", 555},
		{"<inbox>", "5.1.3", 553},
		{"<>", "5.1.3", 553},
		{"<inbox@>", "5.1.3", 553},
		{"<in box@org.example.com>", "5.1.3", 553},
		{"<inbox@org..example.com>", "5.1.3", 553},
		{"<" + strings.Repeat("x", 129) + "@org.example.com>", "5.1.3", 553},
		{"<grüße@org.example.com>", "5.6.7", 553},
		{"<inbox\x01@org.example.com>", "5.1.3", 553},
	} {
		conn := m.connect(t)
		begin(t, conn)
		if text := exchange(t, conn, c.code, "RCPT TO:"+c.to); !hasCode(text, c.enhanced) {
			t.Errorf("RCPT TO:%s: %q, want %s", c.to, text, c.enhanced)
		}
	}
}

func TestRepliesToSenders(t *testing.T) {
	t.Parallel()
	m := start(t, smtpd.Config{})
	for arg, want := range map[string]int{
		"<>": 250, "<ada@example.org>": 250, " <ada@example.org>": 250, "<a..b.@example.org>": 250,
		"<ada@example.org> SIZE=1000 BODY=8BITMIME SMTPUTF8": 250, "<ada@example.org> body=7bit smtputf8": 250,
		"<grüße@bücher.example> SMTPUTF8": 250, "<grüße@bücher.example>": 553,
		"<ada>": 553, "<ada@example.org> SIZE=26214401": 552, "<ada@example.org> SIZE=99999999999999999999999": 552,
		"<ada@example.org> SIZE=": 501, "<ada@example.org> SIZE=-1": 501, "<ada@example.org> SIZE=1 SIZE=1": 501,
		"<ada@example.org> BODY=BINARYMIME": 501, "<ada@example.org> SMTPUTF8=1": 501,
		"<ada@example.org> RET=FULL": 555, "<ada@example.org> AUTH=<>": 555, "<ada@example.org>SIZE=1": 501,
		"ada@example.org": 501, "": 501, "<\xff@example.org> SMTPUTF8": 553, "<a\u0085b@example.org> SMTPUTF8": 553,
	} {
		exchange(t, m.connect(t), want, "MAIL FROM:"+arg)
	}
}

// TestRecipientsOfAMessage checks which recipients reach the intake: each one once, in their
// order, and only those of the first organization.
func TestRecipientsOfAMessage(t *testing.T) {
	t.Parallel()
	m := start(t, smtpd.Config{})
	conn := m.connect(t)
	exchange(t, conn, 250, "MAIL FROM:<>")
	exchange(t, conn, 550, "RCPT TO:<unknown@other.example.com>")
	exchange(t, conn, 250, "RCPT TO:<b@org.example.com>")
	exchange(t, conn, 452, "RCPT TO:<c@other.example.com>")
	exchange(t, conn, 250, "RCPT TO:<A@org.example.com>")
	exchange(t, conn, 250, "RCPT TO:<B@Org.Example.Com>")
	exchange(t, conn, 354, "DATA")
	sendRaw(t, conn, "Subject: hello\r\n\r\nhello\r\n.\r\n")
	reply := exchange(t, conn, 250, "")
	got := m.one(t)
	e := got.Envelope
	if reply != "2.0.0 Accepted as "+e.ID {
		t.Errorf("reply %q, want the id %s", reply, e.ID)
	}
	want := []inbound.Route{
		{Kind: inbound.ToInbox, OrgID: "org", TargetID: "b", Recipient: "b@org.example.com", LocalPart: "b", Domain: "org.example.com"},
		{Kind: inbound.ToInbox, OrgID: "org", TargetID: "a", Recipient: "A@org.example.com", LocalPart: "a", Domain: "org.example.com"},
	}
	if fmt.Sprint(e.Routes) != fmt.Sprint(want) {
		t.Errorf("routes %v, want %v", e.Routes, want)
	}
	if e.Sender != "" || e.Helo != "client.example.org" || e.TLS || e.RemoteIP.String() != "127.0.0.1" || !e.ReceivedAt.Equal(receivedAt) || e.Judged != nil {
		t.Errorf("envelope %+v", e)
	}
	// The transaction has ended.
	exchange(t, conn, 503, "RCPT TO:<b@org.example.com>")
}

func TestTooManyRecipients(t *testing.T) {
	t.Parallel()
	m := start(t, smtpd.Config{Limits: smtpd.Limits{Recipients: 3}})
	conn := m.connect(t)
	exchange(t, conn, 250, "MAIL FROM:<ada@example.org>")
	for range 3 {
		exchange(t, conn, 250, "RCPT TO:<inbox@org.example.com>")
	}
	exchange(t, conn, 452, "RCPT TO:<inbox@org.example.com>")
	exchange(t, conn, 354, "DATA")
	exchange(t, conn, 250, ".")
	if routes := m.one(t).Envelope.Routes; len(routes) != 1 {
		t.Errorf("routes %v, want one", routes)
	}
}

func TestGuessedRecipientsEndTheConnection(t *testing.T) {
	t.Parallel()
	m := start(t, smtpd.Config{})
	conn := m.connect(t)
	exchange(t, conn, 250, "MAIL FROM:<ada@example.org>")
	for range 19 {
		exchange(t, conn, 550, "RCPT TO:<unknown@org.example.com>")
	}
	exchange(t, conn, 421, "RCPT TO:<unknown@org.example.com>")
	closed(t, conn)
}

// TestTarpit checks that replies to unknown recipients are delayed by a second, beginning with
// the third, and that other replies are not.
func TestTarpit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := startPipe(t, smtpd.Config{Limits: smtpd.Limits{Tarpit: time.Second}})
		exchange(t, p.conn, 250, "EHLO client.example.org")
		exchange(t, p.conn, 250, "MAIL FROM:<ada@example.org>")
		for i, want := range []time.Duration{0, 0, time.Second, time.Second} {
			began := time.Now()
			exchange(t, p.conn, 550, "RCPT TO:<unknown@org.example.com>")
			if took := time.Since(began); took != want {
				t.Errorf("reply %d took %v, want %v", i+1, took, want)
			}
		}
		began := time.Now()
		exchange(t, p.conn, 250, "RCPT TO:<inbox@org.example.com>")
		if took := time.Since(began); took != 0 {
			t.Errorf("the reply to an accepted recipient took %v", took)
		}
		p.end(t)
	})
}

// panics is a router that panics.
type panics struct{}

func (panics) Route(context.Context, string) (inbound.Route, inbound.Refusal, error) {
	panic(errors.New("a fault"))
}

func TestPanicEndsOneConnection(t *testing.T) {
	t.Parallel()
	m := start(t, smtpd.Config{Router: panics{}})
	for range 2 {
		conn := m.connect(t)
		exchange(t, conn, 250, "MAIL FROM:<ada@example.org>")
		exchange(t, conn, 421, "RCPT TO:<inbox@org.example.com>")
		closed(t, conn)
	}
}
