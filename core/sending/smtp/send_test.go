package smtp_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/mail"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	message "github.com/emersion/go-message"
	server "github.com/emersion/go-smtp"
	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/smtp"
)

func TestSendOverSTARTTLS(t *testing.T) {
	t.Parallel()
	m := serve(t, nil, false)
	id, err := adapter(t, m.address, nil).Send(t.Context(), "org", sending.Message{
		Envelope: sending.Envelope{
			From: "Café Fernhill <orders@example.com>", ReplyTo: []string{"Help <help@example.com>"},
			Tags: map[string]string{"campaign": "märz", "a": "1"}, Test: true,
			Headers: []sending.Header{{Name: "List-Unsubscribe", Value: "<https://example.com/u/" + strings.Repeat("x", 400) + ">"}, {Name: "X-Note", Value: "grün"}},
		},
		To: []string{"Ada Lovelace <ada@example.net>", "b@example.net"}, CC: []string{"c@example.net"}, BCC: []string{"hidden@example.net"},
		Content: sending.Content{Subject: "Grüße 🌱 " + strings.Repeat("lang ", 60), Text: "Hello\n.\n..dots\n" + strings.Repeat("ü", 900), HTML: "<p>Héllo</p>"},
	})
	if err != nil {
		t.Fatal(err)
	}
	got := m.received()
	if len(got) != 1 || !got[0].tls || got[0].user != user || got[0].from != "orders@example.com" {
		t.Fatalf("the server took %+v", got)
	}
	if diff := cmp.Diff([]string{"ada@example.net", "b@example.net", "c@example.net", "hidden@example.net"}, got[0].to); diff != "" {
		t.Errorf("the recipients (-want +got):\n%s", diff)
	}
	for line := range strings.SplitSeq(got[0].data, "\r\n") {
		if len(line) > 998 || strings.ContainsAny(line, "\r\n") || strings.ContainsFunc(line, func(r rune) bool { return r > '~' }) {
			t.Errorf("a line is %q", line)
		}
	}
	if strings.Contains(got[0].data, "hidden@") {
		t.Error("the message names a hidden recipient")
	}
	wantRead(t, got[0].data, id)
}

func wantRead(t *testing.T, data, id string) {
	t.Helper()
	parsed, err := mail.ReadMessage(strings.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if date, err := parsed.Header.Date(); err != nil || !date.Equal(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)) {
		t.Errorf("the date is %v, %v", date, err)
	}
	e, err := message.Read(strings.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"Message-ID": "<" + id + ">", "Subject": "Grüße 🌱 " + strings.Repeat("lang ", 60), "From": "Café Fernhill <orders@example.com>",
		"To": `"Ada Lovelace" <ada@example.net>, <b@example.net>`, "Cc": "<c@example.net>", "Reply-To": `"Help" <help@example.com>`,
		"X-Mailhelm-Tag-campaign": "märz", "X-Mailhelm-Tag-a": "1", "X-Mailhelm-Tag-mailhelm_test": "true",
		"List-Unsubscribe": "<https://example.com/u/" + strings.Repeat("x", 400) + ">", "X-Note": "grün", "Mime-Version": "1.0",
	} {
		if got, err := e.Header.Text(name); err != nil || got != want || len(e.Header.Values(name)) != 1 {
			t.Errorf("%s is %q, %v, want %q", name, got, err, want)
		}
	}
	parts := e.MultipartReader()
	if kind, _, _ := e.Header.ContentType(); parts == nil || kind != "multipart/alternative" {
		t.Fatalf("the content is %s", kind)
	}
	for _, want := range []string{"text/plain:Hello\r\n.\r\n..dots\r\n" + strings.Repeat("ü", 900), "text/html:<p>Héllo</p>"} {
		part, err := parts.NextPart()
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(part.Body)
		kind, _, _ := part.Header.ContentType()
		if got := kind + ":" + string(body); err != nil || got != want {
			t.Errorf("a part is %q, %v, want %q", got, err, want)
		}
	}
}

func TestSendOverImplicitTLS(t *testing.T) {
	t.Parallel()
	m := serve(t, nil, true)
	a := adapter(t, m.address, func(_ *smtp.Config, at *smtp.Server) { at.Connection.Endpoint = host + ":465" })
	if _, err := a.Send(t.Context(), "org", receipt()); err != nil {
		t.Fatal(err)
	}
	if got := m.received(); len(got) != 1 || !got[0].tls || !strings.Contains(got[0].data, "Content-Type: text/plain") {
		t.Errorf("the server took %+v", got)
	}
}

func TestSendToThisMachineInTheClear(t *testing.T) {
	t.Parallel()
	m := serve(t, func(s *server.Server) { s.TLSConfig, s.AllowInsecureAuth = nil, true }, false)
	a := adapter(t, m.address, func(_ *smtp.Config, at *smtp.Server) { at.Connection.Endpoint = m.address })
	html := receipt()
	html.Content = sending.Content{HTML: "<p>Thank you.</p>"}
	if _, err := a.Send(t.Context(), "org", html); err != nil {
		t.Fatal(err)
	}
	if got := m.received(); len(got) != 1 || got[0].tls || got[0].user != user || !strings.Contains(got[0].data, "Content-Type: text/html") {
		t.Errorf("the server took %+v", got)
	}
}

func TestConnectionsAreKeptAndBounded(t *testing.T) {
	t.Parallel()
	m := serve(t, nil, false)
	a := adapter(t, m.address, nil)
	for range 5 {
		if _, err := a.Send(t.Context(), "org", receipt()); err != nil {
			t.Fatal(err)
		}
	}
	if n := m.countOpened(); n != 2 { // one connection: the test server counts a session before STARTTLS and one after it
		t.Errorf("%d sessions for messages one after another, want 2", n)
	}
	var wg sync.WaitGroup
	ids := make([]string, 60)
	for i := range ids {
		wg.Go(func() {
			one := receipt()
			one.To = []string{fmt.Sprintf("p%d@example.net", i)}
			var err error
			if ids[i], err = a.Send(t.Context(), "org", one); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := m.countOpened(); n > 8 {
		t.Errorf("%d sessions for messages at the same time, want at most 8", n)
	}
	byRecipient := map[string]string{}
	for _, got := range m.received()[5:] {
		byRecipient[got.to[0]] = got.data
	}
	for i, id := range ids {
		if data := byRecipient[fmt.Sprintf("p%d@example.net", i)]; !strings.Contains(data, "Message-Id: <"+id+">\r\n") {
			t.Errorf("message %d was taken as\n%s", i, data)
		}
	}
}

// TestStaleConnectionIsReplaced checks that Send opens a new connection if the server has
// ended the idle one. The message cannot be sent twice, because the server took nothing of
// it over the ended connection.
func TestStaleConnectionIsReplaced(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]map[string]string{
		"ends after each message":              {".": "250 fine DROP"},
		"says goodbye after each message":      {".": "250 fine\r\n421 4.4.2 too long DROP"},
		"ends, and supports pipelining":        {"EHLO": pipelining, ".": "250 fine DROP"},
		"says goodbye and supports pipelining": {"EHLO": pipelining, ".": "250 fine\r\n421 4.4.2 too long DROP"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var connections, messages atomic.Int32
			address := script(t, func(c net.Conn, in *bufio.Reader) {
				connections.Add(1)
				answers("220 hello", test)(c, bufio.NewReader(io.TeeReader(in, dots(func() { messages.Add(1) }))))
			})
			a := adapter(t, address, withoutTLS(address))
			for range 3 {
				if _, err := a.Send(t.Context(), "org", receipt()); err != nil {
					t.Fatal(err)
				}
			}
			if connections.Load() != 3 || messages.Load() != 3 {
				t.Errorf("%d connections and %d messages, want 3 of each", connections.Load(), messages.Load())
			}
		})
	}
}

// TestNewConnectionIsNotReplaced checks that Send does not try again if the server ends a
// connection that was opened for the message.
func TestNewConnectionIsNotReplaced(t *testing.T) {
	t.Parallel()
	var connections atomic.Int32
	address := script(t, func(c net.Conn, in *bufio.Reader) {
		connections.Add(1)
		answers("220 hello", map[string]string{"MAIL": "DROP"})(c, in)
	})
	_, err := adapter(t, address, withoutTLS(address)).Send(t.Context(), "org", receipt())
	wantKind(t, "dropped at MAIL", err, sending.Refused)
	if n := connections.Load(); n != 1 {
		t.Errorf("%d connections, want 1", n)
	}
}

// dots is a writer that calls a function for each final dot of a message.
type dots func()

func (f dots) Write(p []byte) (int, error) {
	for range bytes.Count(p, []byte("\r\n.\r\n")) {
		f()
	}
	return len(p), nil
}

// TestCommandsAreSentAtOnce checks that a server that supports pipelining gets the commands
// before the content without having to answer each, and one that does not gets them one by
// one.
func TestCommandsAreSentAtOnce(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		ehlo string
		want int
	}{"with pipelining": {pipelining, 4}, "without": {"250 hello", 1}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			groups := make(chan int, 10)
			address := script(t, func(c net.Conn, in *bufio.Reader) {
				_, _ = io.WriteString(c, "220 hello\r\n")
				_, _ = in.ReadString('\n')
				_, _ = io.WriteString(c, test.ehlo+"\r\n")
				for range 4 / test.want { // MAIL, RCPT, RCPT, DATA
					var codes strings.Builder
					for range test.want {
						line, _ := in.ReadString('\n')
						codes.WriteString(map[bool]string{true: "354 go on\r\n", false: "250 fine\r\n"}[strings.HasPrefix(line, "DATA")])
					}
					groups <- test.want + in.Buffered()
					_, _ = io.WriteString(c, codes.String())
				}
				for line := ""; line != ".\r\n"; {
					line, _ = in.ReadString('\n')
				}
				_, _ = io.WriteString(c, "250 fine\r\n")
			})
			two := receipt()
			two.To = append(two.To, "b@example.net")
			if _, err := adapter(t, address, withoutTLS(address)).Send(t.Context(), "org", two); err != nil {
				t.Fatal(err)
			}
			for range 4 / test.want {
				if n := <-groups; n != test.want {
					t.Errorf("a group has %d commands, or begins the next one, want %d", n, test.want)
				}
			}
		})
	}
}

func TestChangedPasswordIsUsedAtOnce(t *testing.T) {
	t.Parallel()
	m := serve(t, nil, false)
	secret := password
	a := adapter(t, m.address, func(cfg *smtp.Config, at *smtp.Server) {
		cfg.Server = func(context.Context, string) (smtp.Server, error) {
			at.Connection.Secret = secret
			return *at, nil
		}
	})
	if _, err := a.Send(t.Context(), "org", receipt()); err != nil {
		t.Fatal(err)
	}
	secret = "wrong"
	_, err := a.Send(t.Context(), "org", receipt())
	wantKind(t, "after the password changed", err, sending.Refused)
}

func TestMessagesRefusedBeforeSending(t *testing.T) {
	t.Parallel()
	m := serve(t, func(s *server.Server) { s.MaxMessageBytes = 2_000 }, false)
	a := adapter(t, m.address, func(_ *smtp.Config, at *smtp.Server) { at.Identities = []string{"Example.com", "me@example.org"} })
	for name, test := range map[string]struct {
		change func(*sending.Message)
		want   sending.FailureKind
	}{
		"a template":                {func(m *sending.Message) { m.Content = sending.Content{Template: "welcome"} }, sending.Unsupported},
		"a channel":                 {func(m *sending.Message) { m.ConfigurationSet = "marketing" }, sending.Invalid},
		"another's domain":          {func(m *sending.Message) { m.From = "ceo@example.net" }, sending.Rejected},
		"a domain that ends alike":  {func(m *sending.Message) { m.From = "ceo@notexample.com" }, sending.Rejected},
		"beside the one address":    {func(m *sending.Message) { m.From = "you@example.org" }, sending.Rejected},
		"a recipient that is gone":  {func(m *sending.Message) { m.CC = []string{"gone@example.net"} }, sending.Rejected},
		"more than the server says": {func(m *sending.Message) { m.Content.Text = strings.Repeat("x", 3_000) }, sending.Rejected},
	} {
		one := receipt()
		test.change(&one)
		_, err := a.Send(t.Context(), "org", one)
		wantKind(t, name, err, test.want)
		if err != nil && strings.Contains(err.Error(), "@") {
			t.Errorf("%s: the log says %v", name, err)
		}
	}
	for _, from := range []string{"x@news.example.com", "ME@example.org"} {
		one := receipt()
		one.From = from
		if _, err := a.Send(t.Context(), "org", one); err != nil {
			t.Errorf("from %s: %v", from, err)
		}
	}
	if got := m.received(); len(got) != 2 {
		t.Errorf("the server took %d messages, want 2", len(got))
	}
	_, err := a.SendBulk(t.Context(), "org", sending.Bulk{Template: "welcome"})
	wantKind(t, "SendBulk", err, sending.Unsupported)
}

func TestQuotaAndRate(t *testing.T) {
	t.Parallel()
	m := serve(t, nil, false)
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	a := adapter(t, m.address, func(cfg *smtp.Config, at *smtp.Server) {
		at.Max24HourSend, at.MaxSendRate = 5, 2
		cfg.Clock = func() time.Time { return now }
	})
	send := func(want sending.FailureKind, recipients ...string) {
		t.Helper()
		one := receipt()
		one.To = recipients
		_, err := a.Send(t.Context(), "org", one)
		if f, ok := errors.AsType[*sending.Failure](err); want == "" && err != nil || want != "" && (!ok || f.Kind != want) {
			t.Errorf("to %d: %v, want %q", len(recipients), err, want)
		} else if want == sending.Throttled && f.RetryAfter <= 0 {
			t.Error("nothing says how long to wait")
		}
	}
	send("", "a@example.net", "b@example.net")
	// a rejected message counts against the rate but not against the quota
	send(sending.Rejected, "gone@example.net")
	send(sending.Throttled, "c@example.net") // the third within a second
	now = now.Add(time.Minute)
	send(sending.Throttled, "c@example.net", "d@example.net", "e@example.net", "f@example.net")
	send("", "c@example.net", "d@example.net", "e@example.net")
	overview, err := a.Overview(t.Context(), "org")
	if err != nil || overview.SentLast24Hours != 5 || overview.Max24HourSend != 5 || overview.MaxSendRate != 2 {
		t.Errorf("the overview is %+v, %v", overview, err)
	}
	now = now.Add(25 * time.Hour)
	send("", "f@example.net")
}
