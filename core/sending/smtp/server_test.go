package smtp_test

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"io"
	"log/slog"
	"math/big"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	server "github.com/emersion/go-smtp"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/smtp"
)

const (
	host     = "mail.example.com"
	user     = "mailhelm"
	password = "open sesame"
)

// certificate returns a self-signed certificate for the name in host, and a pool that
// trusts this certificate.
var certificate = sync.OnceValues(func() (tls.Certificate, *x509.CertPool) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: host}, DNSNames: []string{host},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		panic(err)
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		panic(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(parsed)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, roots
})

func serverTLS() *tls.Config {
	c, _ := certificate()
	return &tls.Config{Certificates: []tls.Certificate{c}, MinVersion: tls.VersionTLS12}
}

// taken is a message that the test server accepted, with its envelope and the state of the
// connection.
type taken struct {
	from string
	to   []string
	data string
	user string
	tls  bool
}

// mailServer is a working SMTP server on loopback that accepts and records messages.
type mailServer struct {
	address string

	mu          sync.Mutex
	messages    []taken
	connections int
}

// serve starts a mailServer that requires authentication. It uses TLS from the start if
// implicit is true, else STARTTLS.
func serve(t *testing.T, change func(*server.Server), implicit bool) *mailServer {
	t.Helper()
	m := &mailServer{}
	s := server.NewServer(server.BackendFunc(func(c *server.Conn) (server.Session, error) {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.connections++
		return &mailSession{server: m, conn: c}, nil
	}))
	s.Domain, s.TLSConfig, s.MaxRecipients = host, serverTLS(), 100
	s.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	if change != nil {
		change(s)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	m.address = l.Addr().String()
	if implicit {
		l = tls.NewListener(l, serverTLS())
	}
	done := make(chan struct{})
	go func() { defer close(done); _ = s.Serve(l) }()
	// closes the listener too, in case the server has not started to serve
	t.Cleanup(func() { _ = s.Close(); _ = l.Close(); <-done })
	return m
}

func (m *mailServer) received() []taken {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]taken(nil), m.messages...)
}

func (m *mailServer) countOpened() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.connections
}

type mailSession struct {
	server  *mailServer
	conn    *server.Conn
	user    string
	current taken
}

func (s *mailSession) AuthMechanisms() []string { return []string{sasl.Plain} }

func (s *mailSession) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, u, p string) error {
		if u != user || p != password {
			return server.ErrAuthFailed
		}
		s.user = u
		return nil
	}), nil
}

func (s *mailSession) Mail(from string, _ *server.MailOptions) error {
	_, encrypted := s.conn.TLSConnectionState()
	s.current = taken{from: from, user: s.user, tls: encrypted}
	return nil
}

func (s *mailSession) Rcpt(to string, _ *server.RcptOptions) error {
	if strings.HasPrefix(to, "gone@") {
		return &server.SMTPError{Code: 550, EnhancedCode: server.EnhancedCode{5, 1, 1}, Message: "no such user " + to}
	}
	s.current.to = append(s.current.to, to)
	return nil
}

func (s *mailSession) Data(r io.Reader) error {
	data, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	s.current.data = string(data)
	s.server.mu.Lock()
	defer s.server.mu.Unlock()
	s.server.messages = append(s.server.messages, s.current)
	return nil
}

func (s *mailSession) Reset()        {}
func (s *mailSession) Logout() error { return nil }

// script starts a TCP server that calls the function talk for each connection, and returns
// the server's address.
func script(t *testing.T, talk func(c net.Conn, in *bufio.Reader)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	ctx, cancel := context.WithCancel(context.Background())
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				defer func() { _ = c.Close() }()
				defer context.AfterFunc(ctx, func() { _ = c.Close() })()
				talk(c, bufio.NewReader(c))
			})
		}
	})
	t.Cleanup(func() { cancel(); _ = l.Close(); wg.Wait() })
	return l.Addr().String()
}

// pipelining is the reply to EHLO of a server that supports pipelining.
const pipelining = "250-hello\r\n250 PIPELINING"

// answers returns a server script, to be passed to the function script. The server sends
// the greeting. It answers each command with the reply that the map stores under the
// command's first word. The default reply is 354 for DATA and 250 for others. The reply
// "DROP" closes the connection, at the end of another reply after that, and "HANG" sends
// nothing. The key "." has the reply to the end of a message.
func answers(greeting string, to map[string]string) func(net.Conn, *bufio.Reader) {
	return func(c net.Conn, in *bufio.Reader) {
		say := func(text string) bool {
			text, drops := strings.CutSuffix(text, "DROP")
			if text != "HANG" && text != "" {
				_, _ = io.WriteString(c, strings.TrimSpace(text)+"\r\n")
			}
			return !drops
		}
		inData := false
		for ok := say(greeting); ok; {
			line, err := in.ReadString('\n')
			if err != nil {
				return
			}
			word := strings.ToUpper(strings.Fields(line + " ?")[0])
			if inData && word != "." {
				continue
			}
			answer, found := to[word]
			if !found {
				answer = map[string]string{"DATA": "354 go on"}[word]
			}
			if answer == "" {
				answer = "250 fine"
			}
			inData = word == "DATA" && strings.HasPrefix(answer, "354")
			ok = say(answer)
		}
	}
}

// adapter returns an SMTP account for tests. It connects to address even though the
// configured endpoint is another one.
func adapter(t *testing.T, address string, change func(*smtp.Config, *smtp.Server)) *smtp.SMTP {
	t.Helper()
	_, roots := certificate()
	at := smtp.Server{Connection: sending.Connection{
		OrgID: "org", Provider: sending.SMTP, Endpoint: host + ":587", AccessKeyID: user, Secret: password,
	}}
	cfg := smtp.Config{
		Roots: roots, CallTimeout: 20 * time.Second,
		Clock: func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) },
		Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, address)
		},
	}
	if change != nil {
		change(&cfg, &at)
	}
	if cfg.Server == nil {
		cfg.Server = func(_ context.Context, orgID string) (smtp.Server, error) {
			if orgID != "org" {
				return smtp.Server{}, &sending.Failure{Kind: sending.NotConnected, Err: errors.New("no connection")}
			}
			return at, nil
		}
	}
	s := smtp.New(cfg)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// withoutTLS returns a function for the parameter change of the function adapter. The
// returned function sets the endpoint to address, which is on this machine, and disables
// TLS and authentication.
func withoutTLS(address string) func(*smtp.Config, *smtp.Server) {
	return func(_ *smtp.Config, at *smtp.Server) {
		at.Connection.Endpoint, at.Connection.AccessKeyID, at.Connection.Secret = address, "", ""
	}
}

func receipt() sending.Message {
	return sending.Message{
		Envelope: sending.Envelope{From: "Fernhill Coffee <orders@example.com>"},
		To:       []string{"ada@example.net"},
		Content:  sending.Content{Subject: "Your receipt", Text: "Thank you."},
	}
}

func wantKind(t *testing.T, what string, err error, kind sending.FailureKind) {
	t.Helper()
	f, ok := errors.AsType[*sending.Failure](err)
	if !ok || f.Kind != kind {
		t.Errorf("%s: %v, want a failure of kind %q", what, err, kind)
	}
}
