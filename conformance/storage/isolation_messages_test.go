package storage_test

import (
	"testing"

	"github.com/mailhelm/mailhelm/core/messages"
	"github.com/mailhelm/mailhelm/storage"
)

// sameEvent returns a message event with fixed ids, so that several organizations can
// record the same ids.
func sameEvent() messages.Event {
	return messages.Event{
		ID: "same", MessageID: "same", Type: messages.Delivery, OccurredAt: later(2), Recipient: "same@x",
		Mail: messages.Mail{From: "shop@x", To: []string{"same@x"}, SentAt: start, Subject: "Same", Channel: "same", Template: "same"},
	}
}

// ownMessage gives the organization a delivered message.
func (o *ownedObjects) ownMessage(t *testing.T, db *storage.DB) {
	t.Helper()
	_, err := db.Messages().RecordEvents(t.Context(), o.org, []messages.Event{sameEvent()}, later(3))
	must(t, err)
}

func messageCalls(org string) map[string]storeCall {
	return map[string]storeCall{
		"RecordEvents": func(t *testing.T, db *storage.DB) (any, error) {
			louder := sameEvent()
			louder.ID, louder.Type = "other", messages.Complaint
			fresh, err := db.Messages().RecordEvents(t.Context(), org, []messages.Event{sameEvent(), louder}, later(4))
			// Another organization may record events with the same ids, so RecordEvents must
			// report both as new.
			return len(fresh) != 2, err
		},
		"Message": func(t *testing.T, db *storage.DB) (any, error) {
			found, err := db.Messages().Message(t.Context(), org, "same")
			return found, err
		},
		"MessageEvents": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Messages().MessageEvents(t.Context(), org, "same")
		},
		"messages.Store.Recipients": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Messages().Recipients(t.Context(), org, []string{"same"})
		},
		"Messages": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Messages().Messages(t.Context(), org, everyMessage())
		},
		"Messages to a recipient": func(t *testing.T, db *storage.DB) (any, error) {
			filter := everyMessage()
			filter.Recipient = "same@x"
			return db.Messages().Messages(t.Context(), org, filter)
		},
		"CountMessages": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Messages().CountMessages(t.Context(), org, everyMessage())
		},
		"Purge messages": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Messages().Purge(t.Context(), org, everyMessage().To, 10)
		},
	}
}

func everyMessage() messages.Filter {
	filter := messages.Filter{Limit: 10}
	filter.From, filter.To = start.AddDate(0, 0, -1), later(1000)
	return filter
}
