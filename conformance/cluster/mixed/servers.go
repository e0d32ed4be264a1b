package mixed

import (
	"encoding/json"
	"encoding/pem"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	netmail "net/mail"
	"sync"
	"testing"

	"github.com/emersion/go-smtp"
)

// Hook is a webhook endpoint with TLS that keeps the webhook-ids under which each message came.
type Hook struct {
	// URL is its address, and Certificate its certificate as PEM.
	URL         string
	Certificate []byte

	mu  sync.Mutex
	ids map[string]map[string]bool // by the subject of the message
}

// NewHook starts an endpoint, which is stopped at the end of the test.
func NewHook(tb testing.TB) *Hook {
	tb.Helper()
	h := &Hook{ids: map[string]map[string]bool{}}
	server := httptest.NewTLSServer(h)
	tb.Cleanup(server.Close)
	h.URL, h.Certificate = server.URL, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	return h
}

// ServeHTTP implements http.Handler.
func (h *Hook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body struct{ Message struct{ Subject string } }
	if content, err := io.ReadAll(r.Body); err != nil || json.Unmarshal(content, &body) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ids[body.Message.Subject] == nil {
		h.ids[body.Message.Subject] = map[string]bool{}
	}
	h.ids[body.Message.Subject][r.Header.Get("webhook-id")] = true
}

// deliveries returns the number of webhook-ids under which a message came.
func (h *Hook) deliveries(subject string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.ids[subject])
}

// Account is the SMTP server of a sending account. It accepts every message, and counts them.
type Account struct {
	// Address is its host and port.
	Address string

	mu       sync.Mutex
	accepted map[delivery]int
}

// delivery is a message to a recipient.
type delivery struct{ subject, recipient string }

// NewAccount starts a server, which is stopped at the end of the test.
func NewAccount(tb testing.TB) *Account {
	tb.Helper()
	a := &Account{accepted: map[delivery]int{}}
	s := smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) { return &session{account: a}, nil }))
	s.Domain, s.AllowInsecureAuth, s.ErrorLog = "localhost", true, slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	a.Address = l.Addr().String()
	done := make(chan struct{})
	go func() { defer close(done); _ = s.Serve(l) }()
	tb.Cleanup(func() { _ = s.Close(); <-done })
	return a
}

// copies returns how often a message to a recipient was accepted.
func (a *Account) copies(of delivery) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.accepted[of]
}

// session is a connection to an [Account].
type session struct {
	account    *Account
	recipients []string
}

func (s *session) Mail(string, *smtp.MailOptions) error { return nil }

func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.recipients = append(s.recipients, to)
	return nil
}

func (s *session) Data(r io.Reader) error {
	message, err := netmail.ReadMessage(r)
	if err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, message.Body); err != nil {
		return err
	}
	s.account.mu.Lock()
	defer s.account.mu.Unlock()
	for _, to := range s.recipients {
		s.account.accepted[delivery{message.Header.Get("Subject"), to}]++
	}
	return nil
}

func (s *session) Reset()        { s.recipients = nil }
func (s *session) Logout() error { return nil }
