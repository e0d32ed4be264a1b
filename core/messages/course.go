package messages

import (
	"fmt"
	"slices"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/mask"
)

// course is the delivery of a message to one recipient, as its events report it.
type course struct {
	recipient string
	// events are the events of this recipient and of the whole message, oldest first.
	events []Event

	message Message
	of      int // how many recipients the message had
	hide    mask.Mask
	now     time.Time
}

// coursesOf returns the courses of a message, one for each known recipient, in the order of
// the events.
func coursesOf(m Message, events []Event) []*course {
	var order []string
	byKey := map[string]*course{}
	for _, address := range recipientsOf(m, events) {
		key := core.EmailKey(address)
		if byKey[key] == nil && address != "" {
			byKey[key] = &course{recipient: address}
			order = append(order, key)
		}
	}
	if len(order) == 0 {
		return []*course{{events: events}}
	}
	for _, e := range events {
		if key := core.EmailKey(e.Recipient); key != "" {
			byKey[key].events = append(byKey[key].events, e)
			continue
		}
		for _, key := range order {
			if len(order) == 1 || !isRecipientAction(e.Type) {
				byKey[key].events = append(byKey[key].events, e)
			}
		}
	}
	all := make([]*course, len(order))
	for i, key := range order {
		all[i] = byKey[key]
	}
	return all
}

// isRecipientAction reports whether a recipient caused the event (open, click, complaint,
// subscription). Without a recipient in the event, the actor is unknown.
func isRecipientAction(t EventType) bool {
	return t == Open || t == Click || t == Subscription || t == Complaint
}

// worstCourse returns the course whose status most needs an explanation.
func worstCourse(courses []*course) *course {
	return slices.MaxFunc(courses, func(a, b *course) int {
		return concernRank(a.mostSignificant().Type) - concernRank(b.mostSignificant().Type)
	})
}

// concernRank returns the rank of an event type by how much it needs an explanation.
func concernRank(t EventType) int {
	switch t {
	case Complaint:
		return 6
	case Bounce:
		return 5
	case Reject, RenderingFailure:
		return 4
	case DeliveryDelay:
		return 3
	case Delivery, Open, Click, Subscription:
		return 1
	}
	return 2
}

// mostSignificant returns the highest-ranked event; among equals, the latest. A rendering
// failure ranks with a rejection, and a subscription shows that the message arrived. Without
// any event it returns a Send without a time.
func (k *course) mostSignificant() Event {
	weight := func(t EventType) int {
		switch t {
		case RenderingFailure:
			t = Reject
		case Subscription:
			t = Delivery
		}
		return Rank(t)
	}
	decisive := Event{Type: Send}
	for _, e := range k.events {
		if weight(e.Type) >= weight(decisive.Type) {
			decisive = e
		}
	}
	return decisive
}

func (k *course) has(t EventType) bool { return len(k.eventsOf(t)) > 0 }

func (k *course) eventsOf(t EventType) []Event {
	var found []Event
	for _, e := range k.events {
		if e.Type == t {
			found = append(found, e)
		}
	}
	return found
}

// subject returns the beginning of the diagnosis of a message with several recipients.
func (k *course) subject() string {
	if k.of < 2 {
		return ""
	}
	return fmt.Sprintf("For %s, one of %d recipients: ", core.Quote(k.hide.Address(k.recipient)), k.of)
}

// quote returns a text of the provider about the event, quoted and clipped, in a sentence of
// Mailhelm; "" when the event has none.
func (k *course) quote(e Event, member, before string) string {
	text, _ := k.hide.Metadata(e.Metadata)[member].(string)
	if text == "" {
		return ""
	}
	return before + core.Quote(text) + "."
}
