package messages

import (
	"fmt"
	"slices"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/mask"
)

// course is the delivery of one message to one recipient, as reported by the events.
type course struct {
	recipient string
	// events are, oldest first, the events that name this recipient and the events that name
	// no recipient. If the message has several recipients, an open, click, complaint or
	// subscription that names none is left out.
	events []Event

	message Message
	of      int // number of recipients of the message
	hide    mask.Mask
	now     time.Time
}

// coursesOf returns one course (the delivery to one recipient) for each known recipient of
// a message. The courses are in the order in which the message and its events name the
// recipients. If no recipient is known, it returns one course with all events.
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

// isRecipientAction reports whether events of type t are caused by a recipient (open,
// click, complaint, subscription). If such an event names no recipient, it is unknown which
// recipient caused it.
func isRecipientAction(t EventType) bool {
	return t == Open || t == Click || t == Subscription || t == Complaint
}

// worstCourse returns the course (the delivery to one recipient) with the worst outcome;
// see [concernRank].
func worstCourse(courses []*course) *course {
	return slices.MaxFunc(courses, func(a, b *course) int {
		return concernRank(a.mostSignificant().Type) - concernRank(b.mostSignificant().Type)
	})
}

// concernRank ranks event types by how much they need an explanation: a complaint has the
// highest rank, a delivery the lowest.
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

// mostSignificant returns the event with the highest [Rank]; among equals, the latest. It
// ranks a rendering failure as a rejection, and a subscription as a delivery because it
// shows that the message arrived. Without any event it returns a Send with a zero time.
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

// subject returns the words that begin a sentence of the diagnosis and name the recipient.
// It returns "" if the message has only one recipient.
func (k *course) subject() string {
	if k.of < 2 {
		return ""
	}
	return fmt.Sprintf("For %s, one of %d recipients: ", core.Quote(k.hide.Address(k.recipient)), k.of)
}

// quote returns a sentence about event e. The sentence is the text in the parameter before,
// followed by the quoted text of one member of the event's metadata. quote returns "" if
// that member is missing or empty.
func (k *course) quote(e Event, member, before string) string {
	text, _ := k.hide.Metadata(e.Metadata)[member].(string)
	if text == "" {
		return ""
	}
	return before + core.Quote(text) + "."
}
