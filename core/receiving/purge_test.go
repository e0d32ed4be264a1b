package receiving_test

import (
	"errors"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/objects"
	"github.com/mailhelm/mailhelm/core/objects/objectstest"
	"github.com/mailhelm/mailhelm/core/receiving"
	"github.com/mailhelm/mailhelm/core/receiving/receivingtest"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// TestPurge checks that messages of the log are deleted after thirty days, with their objects.
func TestPurge(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := receivingtest.New(t, db)
		w.Open(t, hook, "")
		store, err := w.Stores.Of(t.Context(), w.OrgID)
		if err != nil {
			t.Fatal(err)
		}
		m := w.Message(core.NewID())
		m.StoreID, m.RawKey = objects.FilesID, objects.RawKey(w.OrgID, m.ID)
		objectstest.Put(t, store, m.RawKey, "raw")
		w.Receive(t, m, "x@in.example.com")
		w.Send(t)
		old := log(t, w)[0].ID
		w.Advance(receiving.Kept - time.Second)
		w.Receive(t, w.Message(core.NewID()), "x@in.example.com")
		w.Purge(t)
		if _, there := objectstest.Content(t, store, m.RawKey); !there || len(log(t, w)) != 2 {
			t.Error("deleted too early")
		}
		w.Advance(2 * time.Second)
		w.Stores.Fail = func(call, _ string) error {
			if call == "delete" {
				return errors.New("disk")
			}
			return nil
		}
		if err := w.PurgeConfig().Purge(t.Context(), w.OrgID); err == nil {
			t.Error("the objects could not be deleted, and the purge succeeded")
		}
		w.Stores.Fail = nil
		w.Purge(t)
		if _, there := objectstest.Content(t, store, m.RawKey); there || len(log(t, w)) != 1 {
			t.Errorf("not deleted: %v, %v", there, log(t, w))
		}
		if _, err := w.DB.ReceivedLog().Message(t.Context(), w.OrgID, old); !core.IsNotFound(err) {
			t.Errorf("the deleted message: %v", err)
		}
		w.Receive(t, m, "x@in.example.com") // with the same id, so it would have the states that were left
		if got := states(t, w, old); len(got) != 1 || got[0].State != receiving.Received {
			t.Errorf("states left: %v", got)
		}
	})
}
