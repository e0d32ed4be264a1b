package webhooks_test

import (
	"context"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core/messages"
	"github.com/mailhelm/mailhelm/core/standardhooks"
	"github.com/mailhelm/mailhelm/core/webhooks"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// TestOutcomeIsStoredAfterAnOutage lets the database go away during attempts: one that is accepted,
// and one that fails. Their outcomes must be stored when it answers again, during their leases.
func TestOutcomeIsStoredAfterAnOutage(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := newWorld(t, db)
		e, _ := w.create(webhooks.Bounced)
		w.observe(w.event(messages.Bounce), w.event(messages.Bounce))
		failing := w.deliveries(e.ID)[0].ID
		w.receiver.answer = func(_ context.Context, r standardhooks.Request) standardhooks.Answer {
			w.setAway(true)
			if r.ID == failing {
				return standardhooks.Answer{Status: 500}
			}
			return standardhooks.Answer{Status: 204}
		}
		if n := w.sendDue(); n != 2 {
			t.Fatalf("%d requests, want 2", n)
		}
		ended := w.clock()
		w.receiver.answer = nil
		w.advance(10 * time.Second)
		w.setAway(false)
		if n := w.sendDue(); n != 1 || w.receiver.all()[2].ID != failing {
			t.Errorf("%d requests after the outage, want the next try of the failed delivery", n)
		}
		for _, d := range w.deliveries(e.ID) {
			want, answered := 1, ended
			if d.ID == failing {
				want, answered = 2, w.clock()
			}
			if d.State != webhooks.Accepted || d.Tries != want || !d.AnsweredAt.Equal(answered) {
				t.Errorf("%+v", d)
			}
		}
	})
}
