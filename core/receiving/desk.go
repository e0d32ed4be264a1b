package receiving

import (
	"context"
	"fmt"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/inbound"
)

// Desk has what people do with deliveries. It does not check permissions: callers do. Each
// change and its entry in the audit log are one transaction. All fields are required except Wake.
type Desk struct {
	Domains    Store
	Store      DeliveryStore
	Transactor core.Transactor
	Audit      access.AuditAppender
	Clock      core.Clock
	// Wake lets the courier of this process look at once; nil leaves that to the couriers.
	Wake func()
}

// testLocalPart is the local part of the recipient of test deliveries.
const testLocalPart = "test"

// change calls do in a transaction, with an entry in the audit log about a domain, and wakes the
// courier.
func (k Desk) change(ctx context.Context, actor access.Actor, orgID, action, subject string, detail any, do func(context.Context, time.Time) error) error {
	err := k.Transactor.InTx(ctx, func(ctx context.Context) error {
		now := k.Clock()
		if err := do(ctx, now); err != nil {
			return err
		}
		return access.RecordAudit(ctx, k.Audit, now, access.AuditEntry{Actor: actor, Action: action, OrgID: orgID, Subject: subject, Detail: detail})
	})
	if err == nil && k.Wake != nil {
		k.Wake()
	}
	return err
}

// withWebhook returns a domain that has a webhook. It fails with core.CodeWebhookNotSet for one
// without.
func (k Desk) withWebhook(ctx context.Context, orgID, domain string) (Domain, error) {
	d, err := k.Domains.Domain(ctx, orgID, domain)
	if err == nil && d.Webhook == nil {
		err = &core.Error{Code: core.CodeWebhookNotSet, Message: "The receiving domain " + d.Domain + " has no webhook, so nothing is delivered."}
	}
	return d, err
}

// hasNoWebhook reports whether the error is that of withWebhook for a domain without a webhook.
func hasNoWebhook(err error) bool {
	return err != nil && core.AsError(err).Code == core.CodeWebhookNotSet
}

// SendTest creates a delivery of an invented message to the webhook of a domain, which need not
// be verified, and returns its entry in the log. The payload has "test": true. It fails with
// core.CodeNotFound for an unknown domain and with core.CodeWebhookNotSet without a webhook.
func (k Desk) SendTest(ctx context.Context, actor access.Actor, orgID, domainID string) (Message, error) {
	var entry LogEntry
	id := core.NewID()
	err := k.change(ctx, actor, orgID, "inbound_webhook.tested", domainID, nil, func(ctx context.Context, now time.Time) error {
		d, err := k.withWebhook(ctx, orgID, domainID)
		if err != nil {
			return err
		}
		entry = testEntry(id, d, now)
		_, err = k.Store.Add(ctx, orgID, entry)
		return err
	})
	return entry.Message, err
}

// testEntry returns an invented message to a domain.
func testEntry(id string, d Domain, now time.Time) LogEntry {
	now = now.UTC().Truncate(time.Microsecond)
	recipient := testLocalPart + "@" + d.Domain
	sender := inbound.Address{Address: "sender@example.com", Name: "Example Sender"}
	passed := inbound.Verdicts{SPF: inbound.Pass, DKIM: inbound.Pass, DMARC: inbound.Pass, Spam: inbound.Disabled, Virus: inbound.Disabled}
	m := inbound.Message{
		ID: id, Sender: sender.Address, ReceivedAt: now, Verdicts: passed, From: &sender, To: []inbound.Address{{Address: recipient}},
		Subject: "Test message", Date: now.Format(time.RFC1123Z), HeaderID: "<" + id + "@example.com>",
		Text: "This message was invented to test the webhook.\n",
	}
	m.Size = int64(len(m.Text))
	return LogEntry{
		Message: Message{
			ID: entryID(d.ID, id), MessageID: id, DomainID: d.ID, Domain: d.Domain, Sender: m.Sender, Recipients: []string{recipient}, Subject: m.Subject,
			Verdicts: m.Verdicts, Outcome: Received, Test: true, ReceivedAt: now, UpdatedAt: now, Size: m.Size,
		},
		States:  []State{{State: Received, OccurredAt: now, Detail: "A person tests the webhook."}},
		Content: &m, ExpiresAt: now.Add(Kept), Wanted: &Wanted{Recipients: []string{recipient}},
	}
}

// Resend makes the delivery of a message due at once, with all its tries. The payload has the
// same webhook-id. A message that was logged because its domain had no webhook is decided about
// again. Resend fails with core.CodeNotFound for an unknown message, and with core.CodeConflict
// for one that cannot be delivered.
func (k Desk) Resend(ctx context.Context, actor access.Actor, orgID, id string) error {
	return k.change(ctx, actor, orgID, "inbound_message.resent", id, nil, func(ctx context.Context, now time.Time) error {
		m, err := k.Store.Message(ctx, orgID, id)
		if err != nil {
			return err
		}
		if _, err := k.withWebhook(ctx, orgID, m.DomainID); core.IsNotFound(err) || hasNoWebhook(err) {
			return unsendable("The receiving domain of the message is deleted or has no webhook.")
		} else if err != nil {
			return err
		}
		sent, reason, err := k.requeue(ctx, orgID, m, now)
		if err == nil && !sent {
			err = unsendable(reason)
		}
		return err
	})
}

// unsendable returns the error for a message that cannot be sent again.
func unsendable(reason string) *core.Error {
	return core.Conflict(reason, "Only messages whose content is stored can be sent again, to a domain with a webhook.")
}

// resendBatch is how many messages of a window one transaction makes due.
const resendBatch = 200

// windowDetail is the detail of the audit entry of a window that was sent again.
type windowDetail struct {
	From     time.Time `json:"from"`
	To       time.Time `json:"to"`
	Messages int       `json:"messages"`
}

// ResendWindow makes the deliveries of all messages due that a domain received from from to
// before to and whose content is stored, and returns their number. Messages that its patterns or
// postures exclude are left out. It fails with core.CodeNotFound for an unknown domain and with
// core.CodeWebhookNotSet without a webhook.
func (k Desk) ResendWindow(ctx context.Context, actor access.Actor, orgID, domain string, from, to time.Time) (int, error) {
	if !from.Before(to) {
		return 0, core.Invalid("from", "is not before `to`")
	}
	d, err := k.withWebhook(ctx, orgID, domain)
	if err != nil {
		return 0, err
	}
	t := Target{OrgID: orgID, DomainID: d.ID}
	total := 0
	var last *Message
	for {
		detail := &windowDetail{From: from.UTC(), To: to.UTC()}
		var page []Message
		err = k.change(ctx, actor, orgID, "inbound_messages.resent", d.ID, detail, func(ctx context.Context, now time.Time) (err error) {
			if page, err = k.Store.Resendable(ctx, t, from, to, last, resendBatch); err != nil {
				return err
			}
			detail.Messages, err = k.requeueAll(ctx, orgID, page, now)
			return err
		})
		if err != nil {
			return total, err
		}
		total += detail.Messages
		if len(page) < resendBatch {
			return total, nil
		}
		// The transaction may have run several times, so the position moves only after it.
		last = &page[len(page)-1]
	}
}

// requeueAll makes the deliveries of messages due and returns their number. It leaves out
// messages that cannot be delivered.
func (k Desk) requeueAll(ctx context.Context, orgID string, all []Message, now time.Time) (int, error) {
	n := 0
	for _, m := range all {
		sent, _, err := k.requeue(ctx, orgID, m, now)
		if err != nil {
			return 0, err
		}
		if sent {
			n++
		}
	}
	return n, nil
}

// requeue makes the delivery of a message due. It reports false with the reason if the message
// cannot be delivered.
func (k Desk) requeue(ctx context.Context, orgID string, m Message, now time.Time) (bool, string, error) {
	if _, err := k.Store.Content(ctx, orgID, m.MessageID); err != nil {
		if core.IsNotFound(err) {
			return false, "The content of the message is not stored.", nil
		}
		return false, "", err
	}
	state := State{State: Retrying, OccurredAt: now, Detail: "The message is sent again on request."}
	var wanted *Wanted
	switch m.Outcome {
	case NoRoute, Dropped:
		return false, fmt.Sprintf("The message has the outcome %s.", m.Outcome), nil
	case UnknownDomain:
		t := Target{OrgID: orgID, DomainID: m.DomainID}
		routes := routesOf(m, orgID)
		domain, err := readPublished(ctx, k.Store, t, routes)
		if err != nil {
			return false, "", err
		}
		verdict := domain.decide(routes, m.Verdicts)
		if verdict.wanted == nil {
			return false, verdict.reason, nil
		}
		wanted = verdict.wanted
	}
	return true, "", k.Store.Requeue(ctx, orgID, m, wanted, state)
}

// routesOf returns the routes of a message of the log.
func routesOf(m Message, orgID string) []inbound.Route {
	routes := make([]inbound.Route, len(m.Recipients))
	for i, recipient := range m.Recipients {
		routes[i] = inbound.Route{Kind: inbound.ToDomain, OrgID: orgID, TargetID: m.DomainID, Recipient: recipient, LocalPart: localPartOf(recipient), Domain: m.Domain}
	}
	return routes
}
