package webhooks_test

import (
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core/messages"
	"github.com/mailhelm/mailhelm/core/webhooks"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// TestLateProcessGivesNothingBack checks that a process whose lease ended does not give back a
// delivery that another process is sending.
func TestLateProcessGivesNothingBack(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := newWorld(t, db)
		e, _ := w.create(webhooks.Bounced)
		w.observe(w.event(messages.Bounce))
		target := webhooks.Target{OrgID: w.org, EndpointID: e.ID}
		claim := func() webhooks.Delivery {
			t.Helper()
			now := w.clock()
			claimed, err := db.WebhookQueue().Claim(t.Context(), target, now, now.Add(time.Minute), 1)
			w.must(err)
			if len(claimed.Deliveries) != 1 {
				t.Fatalf("%d deliveries", len(claimed.Deliveries))
			}
			return claimed.Deliveries[0]
		}
		late := claim()
		w.advance(2 * time.Minute)
		claim()
		w.must(db.WebhookQueue().GiveBack(t.Context(), w.org, late, w.clock()))
		if got := w.deliveries(e.ID)[0]; got.State != webhooks.Sending || got.Tries != 2 {
			t.Errorf("%s after %d tries", got.State, got.Tries)
		}
	})
}
