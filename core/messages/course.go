package messages

import (
	"fmt"
	"slices"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// course is what became of a message for one recipient, as the events tell it.
type course struct {
	recipient string
	// events are its own and those of the message as a whole, oldest first.
	events []Event

	message Message
	of      int // how many recipients the message had
	hide    mask
	now     time.Time
}

// coursesOf are the courses of a message, one for each recipient that is known, in
// the order in which the events name them.
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
			if len(order) == 1 || !isDeed(e.Type) {
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

// isDeed: somebody did it, and without a recipient it is not known who.
func isDeed(t EventType) bool { return t == Open || t == Click || t == Subscription || t == Complaint }

// worst is the course that gives most cause for concern.
func worst(courses []*course) *course {
	return slices.MaxFunc(courses, func(a, b *course) int { return concern(a.decisive().Type) - concern(b.decisive().Type) })
}

// concern orders what can become of a message by how much it asks for an explanation.
func concern(t EventType) int {
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

// decisive is the event that says what became of it: the weightiest, and of equals
// the latest. What could not be rendered was as little sent as what was rejected, and
// who changes a subscription through a message has it.
// It is a Send of no time when there is none.
func (k *course) decisive() Event {
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

func (k *course) has(t EventType) bool { return len(k.all(t)) > 0 }

func (k *course) all(t EventType) []Event {
	var found []Event
	for _, e := range k.events {
		if e.Type == t {
			found = append(found, e)
		}
	}
	return found
}

// subject begins the diagnosis of a message with several recipients.
func (k *course) subject() string {
	if k.of < 2 {
		return ""
	}
	return fmt.Sprintf("For %s, one of %d recipients: ", core.Quoted(k.hide.address(k.recipient)), k.of)
}

// said is a text of the provider's about the event, quoted and clipped, in a
// sentence of ours; "" when there is none.
func (k *course) said(e Event, member, before string) string {
	text, _ := k.hide.metadata(e.Metadata)[member].(string)
	if text == "" {
		return ""
	}
	return before + core.Quoted(text) + "."
}
