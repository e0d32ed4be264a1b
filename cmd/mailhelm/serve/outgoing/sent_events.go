// Package outgoing connects the packages that send mail of organizations: broadcasts, test
// sends and handover, with the stores and the sending accounts of a server.
package outgoing

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"net/mail"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/messages"
	"github.com/mailhelm/mailhelm/core/sending"
)

// SentEvents passes messages to sending accounts, and records a Send event for each message
// that an SMTP server accepted. SES and the simulated account report such an event
// themselves; an SMTP server reports none, and without it the message would be in no list
// and no report. It is a [handover.Sender].
type SentEvents struct {
	Accounts *sending.Accounts
	Events   *messages.Batch
	Clock    core.Clock
	Log      *slog.Logger
}

// recordTimeout limits how long the recording of an event may delay the answer of an account.
const recordTimeout = 10 * time.Second

// Send passes a message to the account of the organization. A message whose event could not
// be recorded was sent nevertheless: the failure is logged.
func (s SentEvents) Send(ctx context.Context, orgID string, m sending.Message) (string, error) {
	id, err := s.Accounts.Send(ctx, orgID, m)
	if err != nil {
		return "", err
	}
	provider, err := s.Accounts.ProviderOf(ctx, orgID)
	if err == nil && provider != sending.SMTP {
		return id, nil
	}
	if err == nil {
		recording, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
		defer cancel()
		_, err = s.Events.Record(recording, orgID, sendEvents(id, m, s.Clock()))
	}
	if err != nil {
		s.Log.ErrorContext(ctx, "a sent message is missing in the list of messages", "org_id", orgID, "message_id", id, "error", err)
	}
	return id, nil
}

// sendEvents returns the Send events of an accepted message, one for each recipient.
func sendEvents(id string, m sending.Message, at time.Time) []messages.Event {
	from := m.From
	if parsed, err := mail.ParseAddress(m.From); err == nil {
		from = parsed.Address
	}
	events := make([]messages.Event, len(m.To))
	for i, to := range m.To {
		sum := sha256.Sum256([]byte("sent\n" + id + "\n" + to))
		events[i] = messages.Event{
			ID: hex.EncodeToString(sum[:]), MessageID: id, Type: messages.Send, OccurredAt: at, Recipient: to,
			Mail: messages.Mail{
				From: from, To: m.To, SentAt: at, Subject: m.Content.Subject, Template: m.Tags[core.TemplateTag], Channel: m.ConfigurationSet,
				Send: m.Tags[core.SendTag], SendRecipient: m.Tags[core.RecipientTag], Test: m.Test,
			},
		}
	}
	return events
}
