package whole

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/messages"
)

// Each kind is one way to refer to messages, such as by id. Its first function stores a
// message of another organization and returns the text that refers to it. Its second
// function returns a text that refers to no message.
var (
	messageID = kind{"message id", func(t *testing.T, w world, n int) string {
		return w.foreignMessage(t, n).MessageID
	}, func(n int) string { return fmt.Sprintf("absent-message-%03d", n) }}
	messageRecipient = kind{"recipient", func(t *testing.T, w world, n int) string {
		return w.foreignMessage(t, n).Recipient
	}, func(n int) string { return fmt.Sprintf("absent.%03d@example.org", n) }}
	messageTemplate = kind{"template", func(t *testing.T, w world, n int) string {
		return w.foreignMessage(t, n).Mail.Template
	}, func(n int) string { return fmt.Sprintf("absent-template-%03d", n) }}
	messageDomain = kind{"sending domain", func(t *testing.T, w world, n int) string {
		return w.foreignMessage(t, n).Mail.From
	}, func(n int) string { return fmt.Sprintf("shop@absent-%03d.example.org", n) }}
)

func (w world) foreignMessage(t *testing.T, n int) messages.Event {
	t.Helper()
	e := messages.Event{
		ID: core.NewID(), MessageID: fmt.Sprintf("foreign-message-%03d", n), Type: messages.Delivery, OccurredAt: w.p.Clock.Now(),
		Recipient: fmt.Sprintf("foreign.recipient.%03d@example.org", n),
	}
	e.Mail = messages.Mail{
		From: fmt.Sprintf("shop@foreign-%03d.example.org", n), To: []string{e.Recipient}, SentAt: e.OccurredAt,
		Template: fmt.Sprintf("foreign-template-%03d", n), Channel: "foreign",
	}
	w.recordMessage(t, w.p.Other.OrgID, e)
	return e
}

func (w world) recordMessage(t *testing.T, orgID string, events ...messages.Event) {
	t.Helper()
	_, err := w.p.DB.Messages().RecordEvents(t.Context(), orgID, events, w.p.Clock.Now())
	w.must(t, err)
}

// TestHostileTextsOfMessages puts each hostile test text in each text member of messages
// and their events. It checks the answers of every operation that reads them.
func TestHostileTextsOfMessages(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		w := newWorld(t, p)
		for i, h := range storable(t) {
			id := fmt.Sprintf("hostile-%03d", i)
			w.recordMessage(t, p.OrgID, w.hostileEvents(t, id, h)...)
			byID := map[string]any{"id": id, "message_id": id}
			for _, s := range subjects() {
				if !strings.HasPrefix(s.Name, "messages_") {
					continue // the operation takes no message id
				}
				arguments := map[string]any{}
				for _, member := range s.input.Members() {
					if value, ok := byID[member]; ok {
						arguments[member] = value
					}
				}
				if len(arguments) == 0 || strings.HasPrefix(s.Name, "lists_") {
					continue
				}
				got := w.own.call(t, s, arguments)
				if status, code := got.outcome(); status != 200 || code != "" {
					t.Errorf("%s with %s: %d %s", s.name(), h, status, got.body)
				}
				checkVoice(t, s.name()+" with "+h.String(), got, h)
			}
		}
		checkVoice(t, "messages_search", w.own.callTool(t, "messages_search", map[string]any{"limit": 50}), storable(t)...)
	})
}

// hostileEvents returns events of the message id, one of each of seven types, such as a
// delivery, a rejection and a hard bounce. Each text member of the events has the hostile
// text, shortened where names have a maximum length.
func (w world) hostileEvents(t *testing.T, id string, h hostile) []messages.Event {
	t.Helper()
	name := h.truncatedTo(longestName)
	metadata := map[string]any{name: h.text}
	for _, member := range []string{"smtp_response", "reject_reason", "errorMessage", "delay_type", "complaint_feedback_type", "user_agent", "click_url"} {
		metadata[member] = h.text
	}
	var events []messages.Event
	for _, kind := range []messages.EventType{messages.Send, messages.DeliveryDelay, messages.Delivery, messages.Reject, messages.RenderingFailure, messages.Open, messages.Bounce} {
		e := messages.Event{
			ID: id + string(kind), MessageID: id, Type: kind, OccurredAt: w.p.Clock.Now(), Recipient: name + "@example.com", Metadata: encoded(t, metadata),
			Mail: messages.Mail{From: name, To: []string{name + "@example.com"}, SentAt: w.p.Clock.Now(), Subject: name, Template: name, Channel: name},
		}
		if kind == messages.Bounce {
			e.Bounced = &messages.BounceKind{Type: messages.PermanentBounce, SubType: name}
		}
		events = append(events, e)
	}
	return events
}
