package handover_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/handover"
	"github.com/mailhelm/mailhelm/core/messages"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// TestEventsProveSentMessages records events with and without the tags of a send. Several
// events about one message, and events about unknown recipients, are harmless.
func TestEventsProveSentMessages(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		org, send, now := core.NewID(), core.NewID(), &clock{now: start}
		for i := range 2 {
			if err := db.Handover().Add(t.Context(), org, send, []handover.Recipient{{Key: fmt.Sprint("r", i), Email: "r@example.com"}}, start); err != nil {
				t.Fatal(err)
			}
		}
		tagged := func(sendID, key, id string) messages.Event {
			return messages.Event{MessageID: id, Type: messages.Send, Mail: messages.Mail{Send: sendID, SendRecipient: key}}
		}
		seen := handover.Observer{Store: db.Handover(), Clock: now.Now}
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

// TestJobGivesUp runs the job before and after the attempts have waited for events.
func TestJobGivesUp(t *testing.T) {
	t.Parallel()
	db := storagetest.SQLite(t)
	orgs, send, now := []string{core.NewID(), core.NewID()}, core.NewID(), &clock{now: start}
	for _, org := range orgs {
		if err := db.Handover().Add(t.Context(), org, send, []handover.Recipient{{Key: "r", Email: "r@example.com"}}, start); err != nil {
			t.Fatal(err)
		}
		if err := db.Handover().Claim(t.Context(), org, send, []string{"r"}, "process", start); err != nil {
			t.Fatal(err)
		}
	}
	job := handover.GiveUpWorker(db.Handover(), func(context.Context) ([]string, error) { return orgs, nil }, now.Now)
	for _, want := range []handover.State{handover.HandingOver, handover.Failed} {
		if err := job.Work(t.Context(), handover.GiveUpArgs{}); err != nil {
			t.Fatal(err)
		}
		for _, org := range orgs {
			if got, err := db.Handover().Recipient(t.Context(), org, send, "r"); err != nil || got.State != want {
				t.Errorf("%+v, %v, want %s", got, err, want)
			}
		}
		now.advance(handover.Patience)
	}
}
