package smtp

import (
	"context"
	"errors"

	"github.com/mailhelm/mailhelm/core/sending"
)

var _ interface {
	sending.Account
	sending.Suppressions
	sending.Templates
	sending.Sender
	sending.ProductionAccess
} = (*SMTP)(nil)

var (
	errTemplates = errors.New("smtp: the server renders no templates")
	errSender    = errors.New("smtp: the sender is not a configured identity")
	errTurn      = errors.New("smtp: all connections are busy")
)

// Send sends the message in one SMTP transaction, for all recipients or for none. It
// returns the Message-ID without angle brackets. Tags become header fields
// X-Mailhelm-Tag-<name>. It fails with Unsupported for a template, and with Invalid for a
// configuration set.
func (s *SMTP) Send(ctx context.Context, orgID string, m sending.Message) (string, error) {
	caller := ctx
	ctx, cancel := context.WithTimeout(ctx, s.cfg.CallTimeout)
	defer cancel()
	server, err := s.server(ctx, orgID)
	if err != nil {
		return "", err
	}
	switch {
	case m.Content.Template != "":
		return "", newFailure(sending.Unsupported, errTemplates)
	case m.ConfigurationSet != "":
		return "", invalid("the server knows no configuration sets")
	}
	b := bufferPool.Get().(*buffers)
	defer bufferPool.Put(b)
	l, err := compose(m, s.cfg.Clock(), b)
	if err != nil {
		return "", err
	}
	if !server.maySendFrom(l.from) {
		return "", newFailure(sending.Rejected, errSender)
	}
	box := s.boxes.outboxOf(orgID)
	giveBack, err := box.allowance.take(server, s.cfg.Clock(), int64(len(l.recipients)))
	if err != nil {
		return "", err
	}
	if f := s.deliverOnce(ctx, caller, box.connections, loginOf(server), l); f != nil {
		if f.Kind != sending.TimedOut {
			giveBack()
		}
		return "", f
	}
	return l.id, nil
}

// SendBulk fails with Unsupported, because SMTP servers have no templates.
func (s *SMTP) SendBulk(ctx context.Context, orgID string, _ sending.Bulk) ([]sending.BulkOutcome, error) {
	return nil, s.unsupportedError(ctx, orgID, "the server renders no templates")
}

// deliverOnce sends the message once, over an idle connection that still works or over a
// new one. It waits while all connections of the organization are in use. A server may end
// idle connections at any time, so the message goes to the next connection if the server
// ended one before it took any content.
func (s *SMTP) deliverOnce(ctx, caller context.Context, connections *pool, to login, l letter) *sending.Failure {
	if err := connections.enter(ctx); err != nil {
		if caller.Err() != nil {
			return newFailure(sending.TimedOut, caller.Err())
		}
		return newThrottling(errTurn, busyRetryAfter)
	}
	defer connections.leave()
	for {
		session, isIdle := connections.take(to), true
		if session == nil {
			var f *sending.Failure
			if session, f = s.open(ctx, caller, to); f != nil {
				return f
			}
			isIdle = false
		}
		gone, f := session.sendMessage(ctx, caller, l)
		if f == nil {
			connections.put(session)
			return nil
		}
		session.close()
		if !isIdle || !gone || ctx.Err() != nil {
			return f
		}
	}
}
