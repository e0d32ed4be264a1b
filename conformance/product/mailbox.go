package product

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
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

// Mailbox is an SMTP server for the mail that the product sends to its users, such as links
// to reset a password. It accepts mail from one user name and password only.
type Mailbox struct {
	// t is the test, which fails if the mailbox cannot parse a message.
	t testing.TB
	// address is where the server listens, as host:port on the loopback.
	address string
	// arrived holds received messages until Next returns them. When it is full, the SMTP
	// command DATA of the next message waits.
	arrived chan *Mail
}

// mailUser and mailPassword are the credentials that the Mailbox accepts. The password has
// characters that must be escaped in a URL. mailSender is the sender of the product's mail.
const (
	mailUser     = "mailhelm"
	mailPassword = "open/sesame@home"
	mailSender   = "Mailhelm <mailhelm@example.com>"
)

// Mail is a message as the server received it.
type Mail struct {
	// From is the envelope sender (MAIL FROM of RFC 5321).
	From string
	// To has the envelope recipients (RCPT TO), in the order of the commands.
	To []string
	// Header has the header fields of the whole message.
	Header mail.Header
	// Text and HTML are the decoded text part and HTML part, with lines that end in "\n".
	Text, HTML string
	// Raw is the message as received, for the output of a failed test.
	Raw string
}

// newMailbox starts the SMTP server on a free port of the loopback, without TLS. The server
// stops when the test ends.
func newMailbox(t testing.TB) *Mailbox {
	t.Helper()
	m := &Mailbox{t: t, arrived: make(chan *Mail, 64)}
	s := smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) { return &mailSession{to: m}, nil }))
	s.Domain, s.AllowInsecureAuth, s.ErrorLog = "localhost", true, slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
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

// url returns an SMTP URL with the address and the credentials of the mailbox, for the
// server's setting --system-smtp.
func (m *Mailbox) url() string {
	return "smtp://" + mailUser + ":" + strings.NewReplacer("/", "%2F", "@", "%40").Replace(mailPassword) + "@" + m.address
}

// mailTimeout is how long [Mailbox.Next] waits for a message. It is long because the
// product sends mail in background jobs.
const mailTimeout = 20 * time.Second

// Next returns the oldest received message that Next has not returned before. It waits up
// to 20 seconds for one, and then fails the test. Only the test's own goroutine may call
// it.
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

// Empty fails the test if a message was received that Next has not returned. It does not
// wait for messages that the product may send later.
func (m *Mailbox) Empty() {
	m.t.Helper()
	select {
	case arrived := <-m.arrived:
		m.t.Errorf("an unexpected mail:\n%s", arrived.Raw)
	default:
	}
}

// mailSession is one SMTP connection. The server calls its methods in the order of the
// client's commands.
type mailSession struct {
	to *Mailbox
	// signed is true after the client has authenticated.
	signed bool
	// mail is the message that the server is receiving. Before the command DATA it has only
	// the envelope.
	mail Mail
}

// AuthMechanisms returns PLAIN (RFC 4616), the server's only mechanism.
func (s *mailSession) AuthMechanisms() []string { return []string{sasl.Plain} }

// Auth returns a PLAIN authentication that accepts mailUser with mailPassword. For other
// credentials it fails with smtp.ErrAuthFailed.
func (s *mailSession) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, password string) error {
		if user != mailUser || password != mailPassword {
			return smtp.ErrAuthFailed
		}
		s.signed = true
		return nil
	}), nil
}

// Mail begins a message, with the address of its envelope sender. It fails with
// smtp.ErrAuthRequired if the client has not authenticated.
func (s *mailSession) Mail(from string, _ *smtp.MailOptions) error {
	if !s.signed {
		return smtp.ErrAuthRequired
	}
	s.mail = Mail{From: from}
	return nil
}

// Rcpt adds an envelope recipient. It accepts every address.
func (s *mailSession) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.mail.To = append(s.mail.To, to)
	return nil
}

// Data parses the message and queues it for [Mailbox.Next]. If the message cannot be
// parsed, the command and the test fail.
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

// Reset does nothing, because the method Mail discards the data of the previous message.
func (s *mailSession) Reset()        {}
func (s *mailSession) Logout() error { return nil }

// read parses a message of the type multipart/alternative, with a text part and then an
// HTML part. It fails for any other structure. The only transfer encoding that it decodes
// is quoted-printable.
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
