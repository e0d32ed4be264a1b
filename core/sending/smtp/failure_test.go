package smtp_test

import (
	"bufio"
	"context"
	"crypto/x509"
	"errors"
	"io"
	"maps"
	"net"
	"strings"
	"testing"
	"time"

	server "github.com/emersion/go-smtp"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/smtp"
)

func TestServersThatMisbehave(t *testing.T) {
	t.Parallel()
	const hello = "220 mail.example.com"
	for name, test := range map[string]struct {
		greeting string
		to       map[string]string
		want     sending.FailureKind
	}{
		"no room for anybody":         {"421 later", nil, sending.Throttled},
		"never":                       {"554 no", nil, sending.Refused},
		"another protocol":            {"SSH-2.0-OpenSSH_9.9", nil, sending.Refused},
		"drops at once":               {"DROP", nil, sending.Refused},
		"says nothing":                {"HANG", nil, sending.Refused},
		"a line without end":          {strings.Repeat("x", 100_000), nil, sending.Refused},
		"lines without end":           {strings.Repeat("220-more\r\n", 100_000), nil, sending.Refused},
		"no EHLO":                     {hello, map[string]string{"EHLO": "550 no", "HELO": "550 no"}, sending.Refused},
		"busy at MAIL":                {hello, map[string]string{"MAIL": "450 later"}, sending.Throttled},
		"wants a password":            {hello, map[string]string{"MAIL": "530 5.7.0 who are you"}, sending.Refused},
		"no to MAIL":                  {hello, map[string]string{"MAIL": "553 not you"}, sending.Rejected},
		"busy at RCPT":                {hello, map[string]string{"RCPT": "451 4.7.1 greylisted ada@example.net"}, sending.Throttled},
		"no to RCPT":                  {hello, map[string]string{"RCPT": "550 5.1.1 no ada@example.net"}, sending.Rejected},
		"drops at RCPT":               {hello, map[string]string{"RCPT": "DROP"}, sending.Refused},
		"hangs at RCPT":               {hello, map[string]string{"RCPT": "HANG"}, sending.Refused},
		"busy at DATA":                {hello, map[string]string{"DATA": "452 full"}, sending.Throttled},
		"no to DATA":                  {hello, map[string]string{"DATA": "554 no"}, sending.Rejected},
		"takes DATA for done":         {hello, map[string]string{"DATA": "250 done"}, sending.Refused},
		"busy after the dot":          {hello, map[string]string{".": "451 later"}, sending.Throttled},
		"no after the dot":            {hello, map[string]string{".": "554 5.7.1 spam"}, sending.Rejected},
		"drops after the dot":         {hello, map[string]string{".": "DROP"}, sending.TimedOut},
		"hangs after the dot":         {hello, map[string]string{".": "HANG"}, sending.TimedOut},
		"speaks nonsense at the dot":  {hello, map[string]string{".": "ada@example.net"}, sending.TimedOut},
		"asks for more after the dot": {hello, map[string]string{".": "354 more"}, sending.TimedOut},
	} {
		for _, ehlo := range []string{"250 hello", pipelining} {
			t.Run(name+" and says "+ehlo, func(t *testing.T) {
				t.Parallel()
				to := map[string]string{"EHLO": ehlo}
				maps.Copy(to, test.to)
				address := script(t, answers(test.greeting, to))
				a := adapter(t, address, func(cfg *smtp.Config, at *smtp.Server) {
					withoutTLS(address)(cfg, at)
					cfg.CallTimeout = 300 * time.Millisecond
					if test.want == sending.Throttled || test.want == sending.Rejected {
						cfg.CallTimeout = 20 * time.Second
					}
				})
				_, err := a.Send(t.Context(), "org", receipt())
				wantKind(t, name, err, test.want)
				if strings.Contains(err.Error(), "ada@") {
					t.Errorf("the log says %v", err)
				}
				if f, _ := errors.AsType[*sending.Failure](err); test.want == sending.Throttled && f.RetryAfter <= 0 {
					t.Error("nothing says how long to wait")
				}
			})
		}
	}
}

// TestSendDoesNotRepeatAMessage checks that Send does not send a message again after the
// connection broke at the end of the message.
func TestSendDoesNotRepeatAMessage(t *testing.T) {
	t.Parallel()
	dots := make(chan struct{}, 10)
	address := script(t, func(c net.Conn, in *bufio.Reader) {
		answers("220 hello", map[string]string{".": "DROP"})(c, in)
		dots <- struct{}{}
	})
	_, err := adapter(t, address, withoutTLS(address)).Send(t.Context(), "org", receipt())
	wantKind(t, "dropped after the dot", err, sending.TimedOut)
	<-dots
	if len(dots) != 0 {
		t.Error("the message was sent again")
	}
}

func TestConnectionsThatAreNotTrusted(t *testing.T) {
	t.Parallel()
	_, trusted := certificate()
	for name, test := range map[string]struct {
		endpoint string
		roots    *x509.CertPool
		server   func(*server.Server)
		secret   string
	}{
		"an unknown signer":        {endpoint: host + ":587", roots: x509.NewCertPool(), secret: password},
		"another's certificate":    {endpoint: "other.example.com:587", roots: trusted, secret: password},
		"no STARTTLS":              {endpoint: host + ":587", roots: trusted, secret: password, server: func(s *server.Server) { s.TLSConfig, s.AllowInsecureAuth = nil, true }},
		"no TLS on the port of it": {endpoint: host + ":465", roots: trusted, secret: password},
		"a wrong password":         {endpoint: host + ":587", roots: trusted, secret: "wrong"},
		"a password with a NUL":    {endpoint: host + ":587", roots: trusted, secret: "a\x00b"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := serve(t, test.server, false)
			a := adapter(t, m.address, func(cfg *smtp.Config, at *smtp.Server) {
				at.Connection.Endpoint, at.Connection.Secret, cfg.Roots = test.endpoint, test.secret, test.roots
				cfg.CallTimeout = 2 * time.Second
			})
			_, err := a.Send(t.Context(), "org", receipt())
			wantKind(t, name, err, sending.Refused)
			if strings.Contains(err.Error(), test.secret) {
				t.Errorf("the log has the password: %v", err)
			}
			if got := m.received(); len(got) != 0 {
				t.Errorf("the server took %+v", got)
			}
		})
	}
}

// TestPasswordsAreNotSentInTheClear checks that no password is sent to a host named
// localhost whose address is not loopback. The test's dialer reports such an address.
func TestPasswordsAreNotSentInTheClear(t *testing.T) {
	t.Parallel()
	received := make(chan string, 1)
	address := script(t, func(c net.Conn, in *bufio.Reader) {
		_, _ = io.WriteString(c, "220 hello\r\n")
		_, _ = in.ReadString('\n')
		_, _ = io.WriteString(c, "250-hello\r\n250 AUTH PLAIN LOGIN\r\n")
		rest, _ := io.ReadAll(in)
		received <- string(rest)
	})
	a := adapter(t, address, func(cfg *smtp.Config, at *smtp.Server) {
		at.Connection.Endpoint = "localhost:25"
		dial := cfg.Dial
		cfg.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			c, err := dial(ctx, network, address)
			return elsewhere{c}, err
		}
	})
	_, err := a.Send(t.Context(), "org", receipt())
	wantKind(t, "localhost elsewhere", err, sending.Refused)
	if got := <-received; got != "" {
		t.Errorf("the client sent %q", got)
	}
}

type elsewhere struct{ net.Conn }

func (elsewhere) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 25} }

func TestMechanisms(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		offer string
		to    map[string]string
		want  sending.FailureKind
	}{
		"LOGIN":                {"AUTH LOGIN", map[string]string{"AUTH": "334 UGFzc3dvcmQ6", "B3BLBIBZZXNHBWU=": "235 welcome"}, ""},
		"no mechanism of ours": {"AUTH CRAM-MD5", nil, sending.Refused},
		"no AUTH at all":       {"SIZE 1000000", nil, sending.Refused},
		"busy":                 {"AUTH PLAIN", map[string]string{"AUTH": "454 4.7.0 later"}, sending.Throttled},
		"a challenge of junk":  {"AUTH PLAIN", map[string]string{"AUTH": "334 !!!"}, sending.Refused},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			to := map[string]string{"EHLO": "250-hello\r\n250 " + test.offer, "*": "501 fine"}
			for word, answer := range test.to {
				to[word] = answer
			}
			address := script(t, answers("220 hello", to))
			a := adapter(t, address, func(_ *smtp.Config, at *smtp.Server) { at.Connection.Endpoint = address })
			_, err := a.Send(t.Context(), "org", receipt())
			if test.want != "" {
				wantKind(t, name, err, test.want)
			} else if err != nil {
				t.Error(err)
			}
		})
	}
}

func TestCallsThatAreCalledOff(t *testing.T) {
	t.Parallel()
	reached := make(chan struct{})
	address := script(t, func(c net.Conn, in *bufio.Reader) {
		_, _ = io.WriteString(c, "220 hello\r\n")
		_, _ = in.ReadString('\n')
		close(reached)
		_, _ = io.Copy(io.Discard, in)
	})
	a := adapter(t, address, withoutTLS(address))
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-reached; cancel() }()
	_, err := a.Send(ctx, "org", receipt())
	wantKind(t, "called off", err, sending.TimedOut)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("the cause is %v", err)
	}
	_, err = a.Send(ctx, "org", receipt())
	wantKind(t, "called off before", err, sending.TimedOut)
}

// TestNoFreeConnectionBeforeTheDeadline checks that messages fail at their deadline if all
// connections of the organization are in use and hang.
func TestNoFreeConnectionBeforeTheDeadline(t *testing.T) {
	t.Parallel()
	address := script(t, answers("HANG", nil))
	a := adapter(t, address, func(cfg *smtp.Config, at *smtp.Server) {
		withoutTLS(address)(cfg, at)
		cfg.CallTimeout = 300 * time.Millisecond
	})
	kinds := make(chan sending.FailureKind)
	for range 12 {
		go func() {
			_, err := a.Send(t.Context(), "org", receipt())
			f, _ := errors.AsType[*sending.Failure](err)
			kinds <- f.Kind
		}()
	}
	count := map[sending.FailureKind]int{}
	for range 12 {
		count[<-kinds]++
	}
	if count[sending.Refused]+count[sending.Throttled] != 12 || count[sending.Refused] < 4 {
		t.Errorf("the messages failed with %v", count)
	}
}
