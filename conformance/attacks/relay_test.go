package attacks_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/textproto"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/receiving"
	"github.com/mailhelm/mailhelm/core/sentmail"
)

// mailbox is a temporary inbox.
type mailbox struct {
	ID      string `json:"id"`
	Address string `json:"address"`
	PollURL string `json:"poll_url"`
	PullURL string `json:"pull_url"`
}

func mintInbox(t *testing.T, p *product.Product, settings string) mailbox {
	t.Helper()
	var made mailbox
	got := caller{p, p.Live.APIKey}.rest(t, http.MethodPost, "/v1/inboxes", settings).want(t, http.StatusCreated)
	if err := json.Unmarshal([]byte(got.body), &made); err != nil {
		t.Fatal(err)
	}
	return made
}

// subjects returns the subjects of an inbox's messages, waiting until there are n.
func subjects(t *testing.T, p *product.Product, in mailbox, n int) []string {
	t.Helper()
	var found []string
	product.Await(t, 30*time.Second, func() error {
		var arrived struct {
			Messages []struct{ Message struct{ Subject string } }
		}
		got := caller{p, p.Live.APIKey}.send(t, http.MethodGet, in.PollURL, "").want(t, http.StatusOK)
		if err := json.Unmarshal([]byte(got.body), &arrived); err != nil {
			return err
		}
		found = nil
		for _, m := range arrived.Messages {
			found = append(found, m.Message.Subject)
		}
		if len(found) < n {
			return fmt.Errorf("%d messages, want %d", len(found), n)
		}
		return nil
	})
	return found
}

// begin says EHLO after the greeting.
func (c mailClient) begin(t *testing.T) mailClient {
	t.Helper()
	if code, text, err := c.ReadResponse(220); err != nil {
		t.Fatalf("greeting: %d %s, %v", code, text, err)
	}
	c.sendCommand("EHLO attacker.example")
	return c
}

// deliver sends a message with a subject, and returns the code of the last reply.
func (c mailClient) deliver(from, to, subject string) int {
	for _, line := range []string{"MAIL FROM:<" + from + ">", "RCPT TO:<" + to + ">", "DATA"} {
		if code := c.sendCommand(line); code != 250 && code != 354 {
			c.sendCommand("RSET")
			return code
		}
	}
	return c.sendCommand("From: <" + from + ">\r\nReturn-Receipt-To: <" + from + ">\r\nDisposition-Notification-To: <" + from + ">\r\nSubject: " + subject + "\r\n\r\nx\r\n.")
}

// receivingDomain records a verified receiving domain of the demo organization.
func receivingDomain(t *testing.T, p *product.Product, name string) {
	t.Helper()
	d := receiving.Domain{ID: core.NewID(), Domain: name, Status: receiving.Verified, Records: []receiving.Record{}, CreatedAt: p.Clock.Now()}
	if err := p.DB.ReceivingDomains().InsertDomain(t.Context(), p.OrgID, d); err != nil {
		t.Fatal(err)
	}
	got := caller{p, p.Live.APIKey}.rest(t, http.MethodPut, "/v1/inbound/domains/"+name+"/webhook", `{"webhook_url":"https://hooks.example.net/mail","allow_patterns":["sales"]}`)
	got.want(t, http.StatusOK)
}

// TestNothingIsRelayed tries the known ways to name a recipient elsewhere: percent hack, bang
// path, source route, quoted local part, another form of the domain. Each is refused, or is mail
// for a domain of the organization, which is only logged there. In the end no mail has left.
func TestNothingIsRelayed(t *testing.T) {
	t.Parallel()
	p := product.Start(t, product.Options{Mail: true})
	const domain = "in.example.com"
	receivingDomain(t, p, domain)
	in := mintInbox(t, p, `{"ttl":600}`)
	local, ours, _ := strings.Cut(in.Address, "@")
	c := dialMail(t, p).begin(t)
	product.Await(t, 20*time.Second, func() error { // until the routing is published
		p.Clock.Advance(2 * time.Second)
		if code := c.deliver("victim@elsewhere.example", "other@"+domain, "to no route"); code != 250 {
			return fmt.Errorf("code %d", code)
		}
		return nil
	})
	for to, want := range map[string]int{
		"user%elsewhere.example@" + ours: 550, "elsewhere.example!user@" + ours: 550, `"user@elsewhere.example"@` + ours: 550,
		"user@elsewhere.example@" + ours: 553, "@" + ours + ":user@elsewhere.example": 550, "@a.example,@" + ours + ":user@elsewhere.example": 550,
		"user@" + ours + ".elsewhere.example": 550, "user@sub." + ours: 550, "user@[127.0.0.1]": 550, "user@[IPv6:::1]": 550, "user@localhost": 550,
		local + "@" + ours + ".": 553, "user@elsewhere.example\x00@" + ours: 553, local + "@" + ours + "\x00.elsewhere.example": 553,
		`"` + local + `@elsewhere.example"@elsewhere.example`: 550, local + "@" + ours + ",user@elsewhere.example": 553, local + ";user@elsewhere.example": 553,
		"|/bin/sh@" + ours: 550, "/etc/passwd@" + ours: 550, `"| sh"@elsewhere.example`: 550, "": 553, "user": 553, "@" + ours: 501,
		"%@%": 553, "user@" + domain + ".elsewhere.example": 550, "user@sub." + domain: 550, "user@*." + domain: 553, "user@*": 553,
		// These are mail for the organization, whatever the local part looks like.
		"user%elsewhere.example@" + domain: 250, "elsewhere.example!user@" + domain: 250, `"user@elsewhere.example"@` + domain: 250,
		"@elsewhere.example:" + in.Address: 250, strings.ToUpper(in.Address): 250,
	} {
		one := dialMail(t, p).begin(t)
		if got := one.deliver("victim@elsewhere.example", to, "relay"); got != want {
			t.Errorf("RCPT TO:<%s>: %d, want %d", to, got, want)
		}
		_ = one.Close()
	}
	for _, to := range []string{"user@elsewhere。example", "user@" + strings.Replace(ours, ".", "。", 1) + ".elsewhere.example", "üser@elsewhere.example", local + "\u200b@" + ours, "user@\u202eelpmaxe.erehwesle"} {
		one := dialMail(t, p).begin(t)
		one.sendCommand("MAIL FROM:<victim@elsewhere.example> SMTPUTF8")
		if got := one.sendCommand("RCPT TO:<" + to + ">"); got < 500 {
			t.Errorf("RCPT TO:<%s>: %d", to, got)
		}
		_ = one.Close()
	}
	if got := subjects(t, p, in, 2); len(got) != 2 {
		t.Errorf("the inbox has %q", got)
	}
	nothingLeft(t, p)
}

// nothingLeft fails the test if the product has sent a mail.
func nothingLeft(t *testing.T, p *product.Product) {
	t.Helper()
	p.Mailbox.Empty()
	for _, org := range []string{p.OrgID, p.Other.OrgID} {
		if sent, _, err := p.Simulator.Mails(t.Context(), org, sentmail.Query{}); err != nil || len(sent) != 0 {
			t.Errorf("mails were sent: %+v, %v", sent, err)
		}
	}
}

// TestNothingIsBounced sends mail with a forged sender that the product cannot deliver, after it
// accepted the mail or before: to an expired, a deleted and a full inbox, from a sender that is
// not allowed, to an address without a route, and to one that does not exist. No report may go
// to the forged sender, also if the mail asks for one.
func TestNothingIsBounced(t *testing.T) {
	t.Parallel()
	p := product.Start(t, product.Options{Mail: true})
	const victim = "victim@elsewhere.example"
	verifySender(t, p, "ada@example.net")
	restricted := mintInbox(t, p, `{"allowed_senders":["ada@example.net"],"ttl":600}`)
	deleted, expired, works := mintInbox(t, p, ""), mintInbox(t, p, `{"ttl":60}`), mintInbox(t, p, `{"ttl":3600}`)
	caller{p, p.Live.APIKey}.rest(t, http.MethodDelete, "/v1/inboxes/"+deleted.ID, "").want(t, http.StatusNoContent)
	p.Clock.Advance(2 * time.Minute)
	c := dialMail(t, p).begin(t)
	for name, one := range map[string]struct {
		from, to string
		code     int
	}{
		"not allowed": {victim, restricted.Address, 250}, "deleted": {victim, deleted.Address, 250}, "expired": {victim, expired.Address, 250},
		"without a sender": {"", expired.Address, 250}, "unknown": {victim, "x" + works.Address, 550}, "elsewhere": {victim, victim, 550},
	} {
		if got := c.deliver(one.from, one.to, name); got != one.code {
			t.Errorf("%s: %d, want %d", name, got, one.code)
		}
	}
	c.deliver(victim, works.Address, "the last")
	if got := subjects(t, p, works, 1); len(got) != 1 || got[0] != "the last" {
		t.Errorf("the inbox has %q", got)
	}
	product.Await(t, 20*time.Second, func() error {
		got := caller{p, p.Live.APIKey}.rest(t, http.MethodGet, "/v1/inboxes/"+restricted.ID, "")
		if !strings.Contains(got.body, `"dropped_count":1`) {
			return errors.New(got.body)
		}
		return nil
	})
	nothingLeft(t, p)
}

// verifySender verifies a sender with the code that is mailed to it.
func verifySender(t *testing.T, p *product.Product, address string) {
	t.Helper()
	owner := caller{p, p.Live.APIKey}
	var claim struct{ ID string }
	got := owner.rest(t, http.MethodPost, "/v1/verified-senders", `{"email":"`+address+`"}`).want(t, http.StatusAccepted)
	if err := json.Unmarshal([]byte(got.body), &claim); err != nil {
		t.Fatal(err)
	}
	code := regexp.MustCompile(`\b[0-9]{6}\b`).FindString(p.Mailbox.Next().Text)
	owner.rest(t, http.MethodPost, "/v1/verified-senders/"+claim.ID+"/confirm", `{"code":"`+code+`"}`).want(t, http.StatusOK)
}

// TestNoMessageIsSmuggled ends a message in the ways that some servers take for the end, and
// begins another one after it, as a sender does who passes the check of an outgoing server. Only
// CR LF . CR LF ends a message here. No second message may arrive.
func TestNoMessageIsSmuggled(t *testing.T) {
	t.Parallel()
	p := product.Start(t, product.Options{})
	in := mintInbox(t, p, "")
	accepted := 1 // the message after the attacks
	for _, end := range []string{
		"\n.\n", "\n.\r\n", "\r\n.\n", "\r.\r", "\r.\r\n", "\r\n.\r", "\r\r\n.\r\r\n", "\r\n.\r\r\n", "\n\r.\n\r", "\r\n\x00.\r\n", "\r\n.\x00\r\n", "\u2028.\u2028", "\x85.\x85", "\r\n .\r\n", "\r\n..\r\n",
	} {
		c := dialMail(t, p).begin(t)
		for _, line := range []string{"MAIL FROM:<a@acme.example>", "RCPT TO:<" + in.Address + ">", "DATA"} {
			c.sendCommand(line)
		}
		second := "MAIL FROM:<admin@bank.example>\r\nRCPT TO:<" + in.Address + ">\r\nDATA\r\nSubject: smuggled\r\n\r\nx\r\n.\r\nQUIT\r\n"
		if _, err := io.WriteString(c.Conn, "Subject: first\r\n\r\nx"+end+second); err != nil {
			t.Fatal(err)
		}
		switch code, _, _ := c.ReadResponse(0); code {
		case 250:
			accepted++
		case 554:
		default:
			t.Errorf("%q: %d", end, code)
		}
		_ = c.Close()
	}
	dialMail(t, p).begin(t).deliver("a@acme.example", in.Address, "last")
	// Messages that are accepted at the same time arrive in any order.
	product.Await(t, 30*time.Second, func() error {
		got := subjects(t, p, in, 1)
		if slices.Contains(got, "smuggled") {
			t.Fatal("a message was smuggled")
		}
		if len(got) < accepted {
			return fmt.Errorf("%d of %d messages are there", len(got), accepted)
		}
		return nil
	})
}

// TestCommandsBeforeTheHandshake pipelines commands after STARTTLS, in the same packet. The
// server must neither begin TLS nor keep the commands for the encrypted session.
func TestCommandsBeforeTheHandshake(t *testing.T) {
	t.Parallel()
	p := product.Start(t, product.Options{})
	in := mintInbox(t, p, "")
	for _, early := range []string{"MAIL FROM:<a@acme.example>\r\nRCPT TO:<" + in.Address + ">\r\n", "EHLO x\r\n", "\x16\x03\x01", "\r\n"} {
		c := dialMail(t, p).begin(t)
		if code := c.sendCommand("STARTTLS\r\n" + strings.TrimSuffix(early, "\r\n")); code == 220 || code == 250 {
			t.Errorf("STARTTLS with %q: %d", early, code)
		}
		if code := c.sendCommand("NOOP"); code != 0 {
			t.Errorf("after STARTTLS with %q: %d", early, code)
		}
		_ = c.Close()
	}
}

// TestThousandMailConnections opens 1,000 connections from 40 networks that stop in the middle
// of a command or a message. The API must answer while they are open, they must use little
// memory, and mail must arrive when they have gone. Connections of one network above its limit
// are refused.
func TestThousandMailConnections(t *testing.T) { //nolint:paralleltest // it measures the memory of the process
	p := product.Start(t, product.Options{})
	in := mintInbox(t, p, "")
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var open []net.Conn
	for n := range 1000 {
		from := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, byte(n%40)+1, 1)}, Timeout: 20 * time.Second}
		conn, err := from.DialContext(t.Context(), "tcp", p.SMTPAddr)
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, conn)
		text := []string{"EHL", "EHLO a\r\nMAIL FROM:<a@acme.example>\r\nRCPT TO:<" + in.Address + ">\r\nDATA\r\nSubject: slow\r\n", strings.Repeat("x", 1000)}[n%3]
		if _, err := io.WriteString(conn, text); err != nil {
			t.Fatal(err)
		}
	}
	caller{p, p.Live.APIKey}.rest(t, http.MethodGet, "/v1/inboxes/"+in.ID, "").want(t, http.StatusOK)
	runtime.GC()
	runtime.ReadMemStats(&after)
	if used := int64(after.HeapInuse+after.StackInuse) - int64(before.HeapInuse+before.StackInuse); used > 64<<20 {
		t.Errorf("1,000 connections use %d MB", used>>20)
	}
	for _, conn := range open {
		_ = conn.Close()
	}
	if code := dialMail(t, p).begin(t).deliver("a@acme.example", in.Address, "after"); code != 250 {
		t.Errorf("after the connections: %d", code)
	}
	if got := subjects(t, p, in, 1); len(got) != 1 || got[0] != "after" {
		t.Errorf("the inbox has %q", got)
	}
	refused := 0
	for range 40 { // a network has 32
		conn, err := net.Dial("tcp", p.SMTPAddr)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close() //nolint:errcheck // the test is over
		if err := conn.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
			t.Fatal(err)
		}
		if code, _, _ := textproto.NewReader(bufio.NewReader(conn)).ReadResponse(0); code == 421 {
			refused++
		}
	}
	if refused < 8 || refused > 12 {
		t.Errorf("%d of 40 connections were refused", refused)
	}
}
