package smtpd

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/inbound"
)

// errPanic is the result of an Intake that panicked.
var errPanic = errors.New("smtpd: intake panicked")

// errNotRead is the result of an Intake that returned no error and did not read the message to
// its end.
var errNotRead = errors.New("smtpd: intake did not read the message to its end")

// data executes DATA.
func (s *session) data(arg string) error {
	if ready := s.mail != nil && len(s.mail.routes) > 0; !ready || arg != "" {
		if s.wire.in.Buffered() > 0 {
			// A client that does not wait for 354 has sent its message, which must not be
			// executed as commands.
			return errEarly
		}
		if arg != "" {
			return s.faulty(501, "5.5.4", "DATA has no argument")
		}
		return s.withoutRecipients()
	}
	s.wire.reply(354, "", "End the message with CR LF . CR LF")
	end := now().Add(s.server.limits.MessageTimeout)
	s.wire.waitForData(end, s.server.limits.DataTimeout)
	return s.receive(newDotted(s.wire.in, s.server.limits.MessageBytes), end)
}

// withoutRecipients replies to a message without an accepted recipient.
func (s *session) withoutRecipients() error {
	if s.mail == nil {
		return s.reply(503, "5.5.1", "Give sender and recipients first")
	}
	return s.reply(554, "5.5.1", "No valid recipients")
}

// receive passes a message to Intake and replies. It ends the transaction.
func (s *session) receive(message transfer, end time.Time) error {
	e := inbound.Envelope{
		ID: core.NewID(), Sender: s.mail.sender, Routes: s.mail.routes, RemoteIP: s.remote, Helo: s.helo,
		TLS: s.wire.tls() != nil, ReceivedAt: s.server.cfg.Clock(),
	}
	body := &traced{trace: s.received(e), message: message}
	s.mail = nil
	result := s.accept(e, body, end)
	lost := message.drain()
	if result == nil && !message.complete() {
		result = errNotRead
	}
	switch refused := message.refused(); {
	case refused != nil:
		s.server.cfg.Count(Message, refused.outcome)
		s.wire.reply(refused.code, refused.enhanced, refused.text)
		if lost != nil || refused == refuseLineEnd {
			// Client and server may not agree about the end of the message, so nothing after it
			// is executed.
			return errQuit
		}
		return nil
	case lost != nil:
		s.server.cfg.Count(Message, Aborted)
		return lost
	case result != nil:
		s.server.cfg.Log.ErrorContext(s.server.ctx, "smtp: a message could not be stored, the client tries again later", "message_id", e.ID, "error", result)
		s.server.cfg.Count(Message, Failed)
		return s.reply(451, "4.3.0", "Message cannot be stored now, try again later")
	}
	s.messages, s.commands, s.progress = s.messages+1, 0, now()
	s.wire.noteProgress(s.progress)
	s.server.cfg.Count(Message, Accepted)
	return s.reply(250, "2.0.0", "Accepted as "+e.ID)
}

// traced is a message with the Received field of this server before it. Unlike io.MultiReader,
// it lets io.Copy use the buffer of the destination.
type traced struct {
	trace   string
	message io.Reader
}

func (t *traced) Read(p []byte) (int, error) {
	if t.trace != "" {
		n := copy(p, t.trace)
		t.trace = t.trace[n:]
		return n, nil
	}
	return t.message.Read(p)
}

// accept calls Intake. A panic there is an error, because the session can continue.
func (s *session) accept(e inbound.Envelope, body io.Reader, end time.Time) (err error) {
	ctx, cancel := context.WithTimeout(s.server.ctx, end.Sub(now())+commitTime)
	defer cancel()
	defer func() {
		if v := recover(); v != nil {
			s.server.cfg.Log.ErrorContext(ctx, "smtp: panic", "error", core.PanicText(v))
			err = errPanic
		}
	}()
	return s.server.cfg.Intake.Accept(ctx, e, body)
}

// received returns the Received field of this server (RFC 5321 section 4.4). It names no
// recipient, because the recipients of a message need not know of each other.
func (s *session) received(e inbound.Envelope) string {
	protocol, secure, comment := "SMTP", "SMTP", ""
	switch {
	case s.mail.utf8:
		protocol, secure = "UTF8SMTP", "UTF8SMTPS" // RFC 6531 section 4.3
	case s.extended:
		protocol, secure = "ESMTP", "ESMTPS" // RFC 3848
	}
	if state := s.wire.tls(); state != nil {
		protocol = secure
		comment = fmt.Sprintf(" (%s %s)", tls.VersionName(state.Version), tls.CipherSuiteName(state.CipherSuite))
	}
	return fmt.Sprintf("Received: from %s (%s)\r\n\tby %s with %s%s id %s;\r\n\t%s\r\n",
		printable(s.helo), literal(e.RemoteIP), printable(s.server.cfg.Domain), protocol, comment, e.ID,
		e.ReceivedAt.UTC().Format(time.RFC1123Z))
}
