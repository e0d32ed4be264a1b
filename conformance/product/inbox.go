package product

import (
	"io"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-smtp"
	"github.com/mailhelm/mailhelm/core/sending"
)

// Inbox is an SMTP server on the loopback that receives the mail of the demo organization, as
// the mail server of its recipients.
type Inbox struct {
	mu    sync.Mutex
	mails map[string][]string // as received, by recipient
}

// ReceiveMail connects the demo organization to an SMTP server instead of the simulated
// account, and returns the server's inbox. The server stops when the test ends.
func (p *Product) ReceiveMail(t testing.TB) *Inbox {
	t.Helper()
	in := &Inbox{mails: map[string][]string{}}
	s := smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) { return &inboxSession{inbox: in}, nil }))
	s.Domain, s.ErrorLog = "localhost", slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("inbox: %v", err)
	}
	done := make(chan struct{})
	go func() { defer close(done); _ = s.Serve(l) }()
	t.Cleanup(func() { _ = s.Close(); _ = l.Close(); <-done })
	p.SendThrough(t, l.Addr().String())
	return in
}

// SendThrough connects the demo organization to an SMTP server on this machine instead of the
// simulated account. The server requires no password.
func (p *Product) SendThrough(t testing.TB, address string) {
	t.Helper()
	now := p.Clock.Now()
	err := p.Connections.SaveConnection(t.Context(), sending.Connection{
		OrgID: p.OrgID, Provider: sending.SMTP, Endpoint: address, MayReachPrivate: true, IngestPath: p.OrgID, Identities: []string{"example.org", "example.com"},
		CreatedAt: now, UpdatedAt: now,
	})
	if err != nil {
		t.Fatalf("connecting to an SMTP server: %v", err)
	}
	p.host.Forget(p.OrgID)
	if err := p.host.Domains().Channels.Sync(t.Context(), p.OrgID); err != nil {
		t.Fatalf("connecting to an SMTP server: %v", err)
	}
}

// To waits for a mail to the address and returns the newest. It ends the test if none
// arrives in time.
func (in *Inbox) To(t testing.TB, address string) *Mail {
	t.Helper()
	const patience = 30 * time.Second
	var mail *Mail
	Await(t, patience, func() error {
		raw, err := in.newest(address)
		if err == nil {
			mail = &Mail{To: []string{address}}
			err = mail.read([]byte(raw))
		}
		return err
	})
	return mail
}

func (in *Inbox) newest(address string) (string, error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	all := in.mails[address]
	if len(all) == 0 {
		return "", io.EOF
	}
	return all[len(all)-1], nil
}

// Count returns how many mails to the address have the text in their source or their
// unsubscribe link.
func (in *Inbox) Count(address, text string) int {
	in.mu.Lock()
	defer in.mu.Unlock()
	n := 0
	for _, raw := range in.mails[address] {
		if strings.Contains(raw, text) {
			n++
		}
	}
	return n
}

// inboxSession is one connection to an Inbox.
type inboxSession struct {
	inbox *Inbox
	to    []string
}

func (s *inboxSession) Mail(string, *smtp.MailOptions) error { return nil }

func (s *inboxSession) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.to = append(s.to, to)
	return nil
}

func (s *inboxSession) Data(r io.Reader) error {
	raw, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	s.inbox.mu.Lock()
	defer s.inbox.mu.Unlock()
	for _, to := range s.to {
		s.inbox.mails[to] = append(s.inbox.mails[to], string(raw))
	}
	return nil
}

func (s *inboxSession) Reset()        { s.to = nil }
func (s *inboxSession) Logout() error { return nil }
