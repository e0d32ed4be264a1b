package messages

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/mask"
)

// Record is a message as a caller sees it. Recipients are masked unless the caller has the
// scope that shows them. Optional members are omitted if the provider did not report them.
type Record struct {
	ID          string     `json:"id" voice:"untrusted" jsonschema_description:"The provider's id of the message."`
	From        string     `json:"from" voice:"untrusted"`
	To          string     `json:"to" voice:"untrusted" jsonschema_description:"First recipient, masked without the scope api.messages.unmask_recipients."`
	SentAt      time.Time  `json:"sent_at"`
	Status      EventType  `json:"status" jsonschema:"enum=Complaint,enum=Bounce,enum=Reject,enum=Click,enum=Open,enum=Delivery,enum=DeliveryDelay,enum=RenderingFailure,enum=Send" jsonschema_description:"The highest-ranked event; the values are in descending order of rank."`
	Channel     string     `json:"channel,omitempty" voice:"untrusted" jsonschema_description:"Slug of the channel."`
	LastEventAt *time.Time `json:"last_event_at,omitempty"`
	Subject     string     `json:"subject,omitempty" voice:"untrusted"`
	Template    string     `json:"template,omitempty" voice:"untrusted" jsonschema_description:"Name of the template at the provider."`
}

func recordOf(m Message, hide mask.Mask) Record {
	r := Record{
		ID: m.ID, From: m.From, To: hide.Address(m.To), SentAt: m.SentAt, Status: m.Status,
		Channel: m.Channel, Subject: hide.Text(m.Subject), Template: m.Template,
	}
	if !m.LastEventAt.IsZero() {
		r.LastEventAt = &m.LastEventAt
	}
	return r
}

// recordsOf returns the messages as records, masked for the caller. It loads all recipients
// of each message first, because a subject may contain the name of any of them.
func (m *Messages) recordsOf(ctx context.Context, c *core.Call, found []Message) ([]Record, error) {
	var recipients map[string][]string
	if len(found) > 0 && !c.Principal.Scopes.Has(core.MessagesUnmask) {
		ids := make([]string, len(found))
		for i, f := range found {
			ids[i] = f.ID
		}
		var err error
		if recipients, err = m.Store.Recipients(ctx, c.Principal.Org.ID, ids); err != nil {
			return nil, err
		}
	}
	records := make([]Record, len(found))
	for i, f := range found {
		records[i] = recordOf(f, mask.For(c, append(recipients[f.ID], f.To)...))
	}
	return records, nil
}

// find returns a message by id. It fails with core.CodeNotFound if the message is unknown
// or was sent more than core.StoredDays days ago.
func (m *Messages) find(ctx context.Context, c *core.Call, id string) (Message, error) {
	found, err := m.Store.Message(ctx, c.Principal.Org.ID, id)
	if isNotFound(err) || err == nil && found.SentAt.Before(c.Now.AddDate(0, 0, -core.StoredDays)) {
		err = messageNotFound()
	}
	return found, err
}

// messageNotFound returns the error for a message that is unknown, of another organization,
// too old, or without events so far.
func messageNotFound() error {
	return core.NotFound("message").WithNext("Check that the id is the provider's. A message is known here from its first event on, usually seconds after it was sent, and for 365 days.")
}

// recipientsOf returns the first recipient of a message and the recipients of its events,
// with repetitions and empty texts.
func recipientsOf(m Message, events []Event) []string {
	all := []string{m.To}
	for _, e := range events {
		all = append(all, e.Recipient)
	}
	return all
}
