package ingest_test

import (
	"context"
	"errors"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/inbound/ses"
	"github.com/mailhelm/mailhelm/rest/ingest"
)

// mailbox notes the notifications of received mail, and answers each with the error err.
type mailbox struct {
	err error
	got []string
}

func (m *mailbox) IsReceived(message []byte) bool { return ses.IsReceived(message) }

func (m *mailbox) Receive(_ context.Context, orgID string, message []byte) error {
	m.got = append(m.got, orgID+" "+string(message))
	return m.err
}

// TestReceivedMail passes notifications of received mail on only with a signature, and answers
// so that SNS repeats those that could not be stored and no others.
func TestReceivedMail(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	const received = `{"notificationType":"Received"}`
	n := notification(received).sign(t, s.signer.key)
	problem(t, s.notify("path-ses", n), 400, "validation_failed") // no receiver

	m := &mailbox{}
	s.events.Mail, s.events.Metrics = m, nil
	s.handler = ingest.New(s.events)
	problem(t, s.notify("path-ses", notification(received).sign(t, foreignKey())), 401, "invalid_key")
	if len(m.got) != 0 {
		t.Errorf("a forged notification was passed on: %q", m.got)
	}
	wantAccepted(t, s.notify("path-ses", n))
	wantAccepted(t, s.notify("path-ses", notification(deliveryOf("message-1")).sign(t, s.signer.key)))
	if len(m.got) != 1 || m.got[0] != "org-ses "+received {
		t.Errorf("passed on %q", m.got)
	}
	m.err = core.Invalid("mail.messageId", "is missing")
	problem(t, s.notify("path-ses", n), 400, "validation_failed")
	m.err = errors.New("no disk")
	problem(t, s.notify("path-ses", n), 500, "internal_error")
}
