package sendevents_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/handover"
	"github.com/mailhelm/mailhelm/core/messages"
	"github.com/mailhelm/mailhelm/core/sendevents"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// TestEventsProveSentMessages records events with and without the tags of a send. Several
// events about one message, and events about unknown recipients, are harmless.
func TestEventsProveSentMessages(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		org, send := core.NewID(), core.NewID()
		for i := range 2 {
			if err := db.Handover().Add(t.Context(), org, send, []handover.Recipient{{Key: fmt.Sprint("r", i), Email: "r@example.com"}}, start); err != nil {
				t.Fatal(err)
			}
		}
		tagged := func(sendID, key, id string) messages.Event {
			return messages.Event{MessageID: id, Type: messages.Send, Mail: messages.Mail{Send: sendID, SendRecipient: key}}
		}
		seen := sendevents.Observer{Store: db.Handover(), Clock: func() time.Time { return start }}
		err := seen.ObserveEvents(t.Context(), org, []messages.Event{
			tagged(send, "r1", "m1"), tagged(send, "r1", "m1"), tagged(send, "unknown", "m2"), tagged(core.NewID(), "r0", "m3"), tagged(send, "", "m4"), {MessageID: "m5"},
		})
		if err != nil {
			t.Fatal(err)
		}
		for key, want := range map[string]handover.State{"r0": handover.Pending, "r1": handover.Sent} {
			got, err := db.Handover().Recipient(t.Context(), org, send, key)
			if err != nil || got.State != want || want == handover.Sent && got.MessageID != "m1" {
				t.Errorf("%s: %+v, %v", key, got, err)
			}
		}
	})
}
