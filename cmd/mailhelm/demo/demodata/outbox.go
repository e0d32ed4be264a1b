package demodata

import (
	"fmt"
	"math/rand/v2"
	"time"

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
	more  history
	added []messages.Event
}

type sentKey struct {
	to, template string
	at           int64
}

// reminders are the kinds of the added messages, by template.
var reminders = map[string]letterKind{
	"harvest-news": {"marketing", "harvest-news", "news@example.org", "The new harvest is here", 0.45, 0.15, 0},
	"summer-sale":  {"marketing", "summer-sale", "news@example.org", "SUMMER SALE: every coffee at half price, only this weekend", 0.35, 0.1, 0},
}

// firstAdded is the number of the first added message. The history has fewer messages.
const firstAdded = 1 << 20

// newOutbox returns an outbox for the events of the history.
func newOutbox(events []messages.Event, now time.Time) *outbox {
	p := &outbox{
		sent: map[sentKey]string{}, welcomes: map[string][]time.Time{},
		more: history{now: now, chance: rand.New(rand.NewPCG(7211, 45)), gone: map[string]time.Time{}, messages: firstAdded}, //nolint:gosec // repeatable on purpose
	}
	for _, e := range events {
		switch {
		case e.Type == messages.Send:
			p.sent[sentKey{e.Recipient, e.Mail.Template, e.OccurredAt.UnixMilli()}] = e.MessageID
			if e.Mail.Template == onboarding[0].template {
				p.welcomes[e.Recipient] = append(p.welcomes[e.Recipient], e.OccurredAt)
			}
		case isPermanentBounce(e) || e.Type == messages.Complaint:
			p.more.gone[e.Recipient] = e.OccurredAt
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

// isGone reports whether the address had bounced permanently or complained at the time.
func (p *outbox) isGone(address string, at time.Time) bool {
	since, gone := p.more.gone[address]
	return gone && at.After(since)
}

// send returns the id of the message with the template that the address got at the time. It adds
// the message if the history does not have it.
func (p *outbox) send(address, template string, at time.Time) (id string, err error) {
	if id, known := p.sent[sentKey{address, template, at.UnixMilli()}]; known {
		return id, nil
	}
	before := len(p.more.events)
	kind, known := reminders[template]
	if p.more.send(kind, address, at, false); !known || len(p.more.events) == before {
		return "", fmt.Errorf("no message %s to %s at %v", template, address, at)
	}
	for _, past := range p.more.events[before:] {
		some, err := messages.ParseSES(past.Raw, past.At)
		if err != nil {
			return "", err
		}
		p.added = append(p.added, some...)
	}
	return p.added[len(p.added)-1].MessageID, nil
}
