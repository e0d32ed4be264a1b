package storage_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// TestSyncResults checks that a result replaces the earlier one of its kind, and that a
// failure keeps the time of the last success.
func TestSyncResults(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		store, org, success := db.SyncResults(), core.NewID(), later(1)
		failed := sending.SyncResult{Kind: sending.TemplateSync, EndedAt: start, Failure: sending.Refused}
		for _, r := range []sending.SyncResult{
			failed,
			{Kind: sending.ChannelSync, EndedAt: start, Failure: sending.Internal},
			{Kind: sending.ChannelSync, EndedAt: success, SucceededAt: &success},
			{Kind: sending.ChannelSync, EndedAt: later(2), Failure: sending.Throttled},
		} {
			must(t, store.SaveSyncResult(t.Context(), org, r))
		}
		got, err := store.SyncResults(t.Context(), org)
		must(t, err)
		want := []sending.SyncResult{{Kind: sending.ChannelSync, EndedAt: later(2), Failure: sending.Throttled, SucceededAt: &success}, failed}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}
