package demodata

import (
	"fmt"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/demo/mailhistory"
	"github.com/mailhelm/mailhelm/core/messages"
)

// outbox has the messages of workflows: those that the demo's history has already, and others that
// it adds.
type outbox struct {
	// sent has the ids of messages by recipient, template and time.
	sent map[sentKey]string
	// welcomes has the times of the welcome messages by recipient.
	welcomes map[string][]time.Time
	// more makes the events of the added messages, which are in added.
	more  mailhistory.Extra
	added []messages.Event
}

type sentKey struct {
	to, template string
	at           int64
}

// reminders are the kinds of the added messages, by template.
var reminders = map[string]mailhistory.Letter{
	"harvest-news": {
		Channel: "marketing", Template: "harvest-news", From: "news@example.org", Subject: "The new harvest is here",
		Opened: 0.45, Clicked: 0.15,
	},
	"summer-sale": {
		Channel: "marketing", Template: "summer-sale", From: "news@example.org", Subject: "SUMMER SALE: every coffee at half price, only this weekend",
		Opened: 0.35, Clicked: 0.1,
	},
}

// newOutbox returns an outbox for the events of the history.
func newOutbox(events []messages.Event, now time.Time) *outbox {
	p := &outbox{
		sent: map[sentKey]string{}, welcomes: map[string][]time.Time{},
		more: mailhistory.NewExtra(now),
	}
	for _, e := range events {
		switch {
		case e.Type == messages.Send:
			p.sent[sentKey{e.Recipient, e.Mail.Template, e.OccurredAt.UnixMilli()}] = e.MessageID
			if e.Mail.Template == mailhistory.Onboarding[0].Template {
				p.welcomes[e.Recipient] = append(p.welcomes[e.Recipient], e.OccurredAt)
			}
		case isPermanentBounce(e) || e.Type == messages.Complaint:
			p.more.Exclude(e.Recipient, e.OccurredAt)
		}
	}
	return p
}

// welcomed returns the time of the first welcome message to the address since the time, zero if
// there is none.
func (p *outbox) welcomed(address string, since time.Time) time.Time {
	for _, at := range p.welcomes[address] {
		if at.After(since) {
			return at
		}
	}
	return time.Time{}
}

// send returns the id of the message with the template that the address got at the time. It adds
// the message if the history does not have it.
func (p *outbox) send(address, template string, at time.Time) (id string, err error) {
	if id, known := p.sent[sentKey{address, template, at.UnixMilli()}]; known {
		return id, nil
	}
	letter, known := reminders[template]
	sent := p.more.Send(letter, address, at)
	if !known || len(sent) == 0 {
		return "", fmt.Errorf("no message %s to %s at %v", template, address, at)
	}
	for _, past := range sent {
		some, err := messages.ParseSES(past.Raw, past.At)
		if err != nil {
			return "", err
		}
		p.added = append(p.added, some...)
	}
	return p.added[len(p.added)-1].MessageID, nil
}
