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
	"github.com/mailhelm/mailhelm/core/handover"
	"github.com/mailhelm/mailhelm/core/messages"
	"github.com/mailhelm/mailhelm/core/sending"
)

// SentEvents records a Send event for each message that an SMTP server accepted. SES and the
// simulated account report such an event themselves; an SMTP server reports none, and without
// it the message would be in no list and no report.
type SentEvents struct {
	Accounts *sending.Accounts
	Events   *messages.Batch
	Log      *slog.Logger
}

// Record records the events of messages that the account of the organization accepted. The
// messages were sent even if that fails: the failure is logged.
func (s SentEvents) Record(ctx context.Context, orgID string, sent []handover.SentMessage) {
	provider, err := s.Accounts.ProviderOf(ctx, orgID)
	if err == nil && provider != sending.SMTP {
		return
	}
	if err == nil {
		var events []messages.Event
		for _, m := range sent {
			events = append(events, sendEvents(m.ID, m.Message, m.At)...)
		}
		_, err = s.Events.Record(ctx, orgID, events)
	}
	if err != nil {
		s.Log.ErrorContext(ctx, "sent messages are missing in the list of messages", "org_id", orgID, "messages", len(sent), "first_message_id", sent[0].ID, "error", err)
	}
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
