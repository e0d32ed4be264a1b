package doctor

import (
	"context"

	"github.com/mailhelm/mailhelm/core/letters/smtpmail"
)

// mail signs in to the operator's SMTP server and sends nothing. A failure is a Warn: a
// server starts without SMTP, but people cannot reset their passwords.
func (e *examination) mail(ctx context.Context) {
	const name = "mail to people"
	server, configured, err := e.cfg.SystemMail()
	switch {
	case err != nil:
		return // e.settings has already reported err
	case !configured:
		e.add(name, OK, "no SMTP server is configured; set forgotten passwords with 'mailhelm admin user set-password'", "")
		return
	}
	sender := smtpmail.New(smtpmail.Config{
		Address: server.Address, User: server.User, Password: server.Password, ImplicitTLS: server.ImplicitTLS, From: server.From,
		Clock: e.cfg.Clock, Roots: e.cfg.SystemCAs,
	})
	defer sender.Close() //nolint:errcheck // nothing was sent
	if err := sender.Probe(ctx); err != nil {
		e.add(name, Warn, err.Error(), "Check --system-smtp: host, port, user and password, and that the server encrypts. Until it answers, people get no links to reset their passwords.")
		return
	}
	e.add(name, OK, server.Address+" accepts mail from "+server.From, "")
}
