// Package smtpmail implements letters.Sender: it sends the mails of the service to its
// users through the operator's SMTP server, with package core/sending/smtp.
package smtpmail

import (
	"context"
	"crypto/x509"
	"fmt"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/letters"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/smtp"
)

// Config configures a Sender. Only Address and From are required.
type Config struct {
	Address        string // host:port
	User, Password string // both are "" to send without authentication
	// ImplicitTLS opens connections with TLS also on ports other than 465. If it is false,
	// STARTTLS is required on these ports, except for a server on this machine.
	ImplicitTLS bool
	// From is the sender address of every mail, with or without a display name.
	From  string
	Clock core.Clock
	// Roots are the certificate authorities that the server's certificate is verified with;
	// nil means those of the operating system.
	Roots *x509.CertPool
}

// Sender sends letters through the operator's SMTP server. It is safe for use by several
// goroutines.
type Sender struct {
	from   string
	server *smtp.SMTP
}

var _ letters.Sender = (*Sender)(nil)

// owner is passed as the organization id to package core/sending/smtp, because the
// operator's SMTP server belongs to no organization.
const owner = "operator"

// New returns a Sender. It does not connect before the first letter.
func New(cfg Config) *Sender {
	at := smtp.Server{ImplicitTLS: cfg.ImplicitTLS, Connection: sending.Connection{
		OrgID: owner, Provider: sending.SMTP, Endpoint: cfg.Address,
		AccessKeyID: cfg.User, Secret: cfg.Password, MayReachPrivate: true,
	}}
	return &Sender{from: cfg.From, server: smtp.New(smtp.Config{
		Server: func(context.Context, string) (smtp.Server, error) { return at, nil },
		Clock:  cfg.Clock, Roots: cfg.Roots,
	})}
}

// Send passes a letter to the SMTP server. It adds the header Auto-Submitted, which
// prevents automatic replies (RFC 3834).
func (s *Sender) Send(ctx context.Context, l letters.Letter) error {
	_, err := s.server.Send(ctx, owner, sending.Message{
		Envelope: sending.Envelope{From: s.from, Headers: []sending.Header{{Name: "Auto-Submitted", Value: "auto-generated"}}},
		To:       []string{l.To},
		Content:  sending.Content{Subject: l.Subject, Text: l.Text, HTML: l.HTML},
	})
	if err != nil {
		return fmt.Errorf("mail to a person: %w", err)
	}
	return nil
}

// Probe connects and authenticates to the SMTP server without sending a mail.
func (s *Sender) Probe(ctx context.Context) error { return s.server.Probe(ctx, owner) }

// Close closes the open connections to the SMTP server.
func (s *Sender) Close() error { return s.server.Close() }
