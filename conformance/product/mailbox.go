package product

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net"
	"net/mail"
	"strings"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
)

// Mailbox is the operator's SMTP server. It accepts all mail from the product to people,
// with one user's password.
type Mailbox struct {
	t       testing.TB
	address string
	arrived chan *Mail
}

// The credentials of the server, with a password that must be escaped in a URL, and the
// sender.
const (
	mailUser     = "mailhelm"
	mailPassword = "open/sesame@home"
	mailSender   = "Mailhelm <mailhelm@example.com>"
)

// Mail is a message as the server received it.
type Mail struct {
	From       string
	To         []string
	Header     mail.Header
	Text, HTML string
	Raw        string
}

// newMailbox starts the server, which stops with the test.
func newMailbox(t testing.TB) *Mailbox {
	t.Helper()
	m := &Mailbox{t: t, arrived: make(chan *Mail, 64)}
	s := smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) { return &mailSession{to: m}, nil }))
	s.Domain, s.AllowInsecureAuth, s.ErrorLog = "localhost", true, silent{}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("mailbox: %v", err)
	}
	m.address = l.Addr().String()
	done := make(chan struct{})
	go func() { defer close(done); _ = s.Serve(l) }()
	t.Cleanup(func() { _ = s.Close(); _ = l.Close(); <-done })
	return m
}

// url returns the mailbox as an SMTP URL for --system-smtp, with user and password.
func (m *Mailbox) url() string {
	return "smtp://" + mailUser + ":" + strings.NewReplacer("/", "%2F", "@", "%40").Replace(mailPassword) + "@" + m.address
}

const mailTimeout = 20 * time.Second

// Next returns the next mail. It waits for a short time and fails the test if none
// arrives.
func (m *Mailbox) Next() *Mail {
	m.t.Helper()
	select {
	case arrived := <-m.arrived:
		return arrived
	case <-time.After(mailTimeout):
		m.t.Fatal("no mail arrived")
		return nil
	}
}

// Empty fails the test if there is mail that the test has not read with Next.
func (m *Mailbox) Empty() {
	m.t.Helper()
	select {
	case arrived := <-m.arrived:
		m.t.Errorf("a mail nobody expected:\n%s", arrived.Raw)
	default:
	}
}

type silent struct{}

func (silent) Printf(string, ...any) {}
func (silent) Println(...any)        {}

type mailSession struct {
	to     *Mailbox
	signed bool
	mail   Mail
}

func (s *mailSession) AuthMechanisms() []string { return []string{sasl.Plain} }

func (s *mailSession) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, password string) error {
		if user != mailUser || password != mailPassword {
			return smtp.ErrAuthFailed
		}
		s.signed = true
		return nil
	}), nil
}

func (s *mailSession) Mail(from string, _ *smtp.MailOptions) error {
	if !s.signed {
		return smtp.ErrAuthRequired
	}
	s.mail = Mail{From: from}
	return nil
}

func (s *mailSession) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.mail.To = append(s.mail.To, to)
	return nil
}

func (s *mailSession) Data(r io.Reader) error {
	raw, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	arrived := s.mail
	if err := arrived.read(raw); err != nil {
		s.to.t.Errorf("mailbox: %v:\n%s", err, raw)
		return err
	}
	s.to.arrived <- &arrived
	return nil
}

func (s *mailSession) Reset()        {}
func (s *mailSession) Logout() error { return nil }

// read parses a message that must have a text part and an HTML part, and no other.
func (m *Mail) read(raw []byte) error {
	parsed, err := mail.ReadMessage(bytes.NewReader(raw))
	if err != nil {
		return err
	}
	m.Raw, m.Header = string(raw), parsed.Header
	kind, params, err := mime.ParseMediaType(parsed.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/alternative" {
		return fmt.Errorf("content type %s: %w", kind, errors.Join(err))
	}
	parts := multipart.NewReader(parsed.Body, params["boundary"])
	for _, part := range []struct {
		kind string
		into *string
	}{{"text/plain", &m.Text}, {"text/html", &m.HTML}} {
		p, err := parts.NextRawPart()
		if err != nil {
			return err
		}
		body := io.Reader(p)
		if strings.EqualFold(p.Header.Get("Content-Transfer-Encoding"), "quoted-printable") {
			body = quotedprintable.NewReader(p)
		}
		content, err := io.ReadAll(body)
		if kind, _, typeErr := mime.ParseMediaType(p.Header.Get("Content-Type")); err != nil || typeErr != nil || kind != part.kind {
			return fmt.Errorf("part %s: %w", kind, errors.Join(err, typeErr))
		}
		*part.into = strings.ReplaceAll(string(content), "\r\n", "\n")
	}
	if _, err := parts.NextRawPart(); !errors.Is(err, io.EOF) {
		return errors.New("a third part")
	}
	return nil
}
