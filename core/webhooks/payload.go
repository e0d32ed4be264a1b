package webhooks

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/messages"
)

// payload is the JSON body of a delivery.
type payload struct {
	Type      EventType `json:"type"`
	Timestamp time.Time `json:"timestamp"` // of the event
	Data      data      `json:"data"`
}

// data describes an event. Members without a value are left out.
type data struct {
	MessageID   string          `json:"message_id,omitempty"`
	Recipient   string          `json:"recipient,omitempty"`
	From        string          `json:"from,omitempty"`
	Subject     string          `json:"subject,omitempty"`
	Template    string          `json:"template,omitempty"`
	BroadcastID string          `json:"broadcast_id,omitempty"`
	ContactID   string          `json:"contact_id,omitempty"`
	Topic       string          `json:"topic,omitempty"`
	Test        bool            `json:"test,omitempty"`
	Metadata    json.RawMessage `json:"metadata,omitempty"`
}

// occurrence is an event that endpoints receive. id identifies it in the organization.
type occurrence struct {
	id      string
	payload payload
}

// occurrenceOf returns a message event as endpoints receive it. It returns false for an
// event of a type that they do not receive.
func occurrenceOf(e messages.Event) (occurrence, bool) {
	kind := typeOf(e)
	if kind == "" {
		return occurrence{}, false
	}
	d := data{
		MessageID: e.MessageID, Recipient: e.Recipient, From: e.Mail.From, Subject: e.Mail.Subject, Template: e.Mail.Template,
		BroadcastID: e.Mail.Send, Test: e.Mail.Test, Metadata: e.Metadata,
	}
	if d.Recipient == "" && len(e.Mail.To) == 1 {
		d.Recipient = e.Mail.To[0]
	}
	if core.IsID(e.Mail.SendRecipient) { // in a test send it is a position
		d.ContactID = e.Mail.SendRecipient
	}
	return occurrence{e.ID, payload{kind, e.OccurredAt.UTC(), d}}, true
}

// typeOf returns the type of a message event for endpoints, or "" for one that they do not
// receive.
func typeOf(e messages.Event) EventType {
	switch e.Type {
	case messages.Send:
		return Sent
	case messages.Delivery:
		return Delivered
	case messages.Bounce:
		return Bounced
	case messages.Complaint:
		return Complained
	case messages.Open:
		return Opened
	case messages.Click:
		return Clicked
	case messages.Subscription:
		if optsOut(e.Metadata) {
			return Unsubscribed
		}
	}
	return ""
}

// preferences are a recipient's choices in an event of Amazon SES of the type Subscription.
type preferences struct {
	UnsubscribeAll bool `json:"unsubscribeAll"`
	Topics         []struct {
		Name   string `json:"topicName"`
		Status string `json:"subscriptionStatus"`
	} `json:"topicSubscriptionStatus"`
}

// optsOut reports whether the recipient opted out of all mail or of a topic of which the
// recipient had not opted out before.
func optsOut(metadata json.RawMessage) bool {
	var change struct {
		Old preferences `json:"oldTopicPreferences"`
		New preferences `json:"newTopicPreferences"`
	}
	if json.Unmarshal(metadata, &change) != nil {
		return false
	}
	if change.New.UnsubscribeAll {
		return !change.Old.UnsubscribeAll
	}
	const optOut = "OptOut"
	before := map[string]string{}
	for _, t := range change.Old.Topics {
		before[t.Name] = t.Status
	}
	for _, t := range change.New.Topics {
		if t.Status == optOut && before[t.Name] != optOut {
			return true
		}
	}
	return false
}

// delivery returns the delivery of an event to an endpoint. body is the JSON of the event's
// payload.
func (o occurrence) delivery(endpointID, body string, now time.Time) Delivery {
	return Delivery{
		ID: deliveryID(endpointID, o.id), EndpointID: endpointID, Type: o.payload.Type, MessageID: o.payload.Data.MessageID,
		Recipient: o.payload.Data.Recipient, Test: o.payload.Data.Test, Body: body, State: Pending, CreatedAt: now, DueAt: &now,
	}
}

// body returns the JSON of the event's payload.
func (o occurrence) body() (string, error) {
	b, err := json.Marshal(o.payload)
	if err != nil {
		return "", fmt.Errorf("webhook of event %s: %w", o.id, err)
	}
	return string(b), nil
}

// deliveryID returns the id of the delivery of an event to an endpoint: a UUID whose bits
// are of a hash of both.
func deliveryID(endpointID, eventID string) string {
	sum := sha256.Sum256([]byte(endpointID + "\n" + eventID))
	id := uuid.UUID(sum[:16])
	id[6], id[8] = id[6]&0x0f|0x80, id[8]&0x3f|0x80 // version 8 (RFC 9562), variant 10
	return id.String()
}
