package inboxes_test

import (
	"context"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core/inbound"
	"github.com/mailhelm/mailhelm/core/inboxes"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// announced is a PurgeStore that reports when an inbox is about to be marked as purged.
type announced struct {
	inboxes.PurgeStore
	marking chan struct{}
}

func (a announced) MarkPurged(ctx context.Context, t inboxes.Target, now time.Time) (bool, error) {
	a.marking <- struct{}{}
	return a.PurgeStore.MarkPurged(ctx, t, now)
}

// TestPurgeDuringDelivery purges an inbox while a delivery that began before the end of the
// inbox is not committed. Its message must be deleted too.
func TestPurgeDuringDelivery(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := newWorld(t, db)
		m := w.mint(`{"ttl": 60}`)
		store := announced{w.inboxes.Purges, make(chan struct{}, 10)}
		w.inboxes.Purges = store
		work := w.inboxes.PurgeWorker().Work
		purged := make(chan error, 1)
		w.must(w.db.InTx(t.Context(), func(ctx context.Context) error {
			kept, err := w.inboxes.Destination().Deliver(ctx, []inbound.Delivery{w.routed(m.Address, w.message("last", "shop@example.com"))})
			if err != nil || !kept[0] {
				t.Errorf("the delivery: %v, %v", kept, err)
			}
			w.advance(time.Minute)
			go func() { purged <- work(t.Context(), inboxes.PurgeArgs{}) }()
			<-store.marking // it found no message, because this transaction is not committed
			return err
		}))
		w.must(<-purged)
		w.must(work(t.Context(), inboxes.PurgeArgs{})) // the job runs every 15 seconds
		left, err := db.Inboxes().Received(t.Context(), w.ann.Org.ID, m.ID, 0, 10, 1<<20)
		if err != nil || len(left) != 0 || len(w.objects.stored) != 0 {
			t.Errorf("left: %+v, objects %v, %v", left, w.objects.stored, err)
		}
	})
}
