// Package smtpmail hands the mail of the service to its people over to the operator's
// own SMTP server: a letters.Sender. The connection, its encryption and the form of the
// message are core/sending/smtp's; this package says which server, and from whom.
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

// Config is what a sender is made of. Only Address and From are required.
type Config struct {
	Address        string // host:port
	User, Password string // both "" to send without signing in
	// ImplicitTLS begins with TLS, also on another port than 465. Otherwise STARTTLS is
	// required, but for a server on this machine.
	ImplicitTLS bool
	// From is the sender of every mail, with or without a name.
	From  string
	Clock core.Clock
	// Roots verify certificates. nil are the machine's.
	Roots *x509.CertPool
}

// Sender hands letters over to the server. It is safe for use by several goroutines.
type Sender struct {
	from   string
	server *smtp.SMTP
}

var _ letters.Sender = (*Sender)(nil)

// owner is the key under which the adapter keeps the connections of this one server.
const owner = "operator"

// New makes a sender. It connects to nothing before the first letter.
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

// Send hands a letter over. Automatic replies to it are asked not to be sent
// (RFC 3834).
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

// Probe connects to the server and signs in, and hands nothing over.
func (s *Sender) Probe(ctx context.Context) error { return s.server.Probe(ctx, owner) }

// Close ends connections that are kept open.
func (s *Sender) Close() error { return s.server.Close() }
