package privacy_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core/privacy"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
	"github.com/mailhelm/mailhelm/storage/workflows"
)

// TestArchivedContactIsErased erases an archived contact after its retention. The tables that an
// index leads to from the contact no longer have its data, another contact and another
// organization keep theirs, and the address is still refused.
func TestArchivedContactIsErased(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := newWorld(t, db)
		archive := privacy.Archive{
			Store: db.Privacy(), Tombstones: db.Privacy(), Hasher: func() (privacy.Hasher, error) { return w.Hasher, nil },
			Runs: workflows.NewTimerStore(db.DB), Transactor: db, Clock: func() time.Time { return now },
		}
		w.execute(t, "UPDATE contacts SET updated_at = 5")
		w.execute(t, "UPDATE undeliverable SET status = 'listed', reason = 'permanent_bounce'")
		// Recipients are found by their broadcast.
		w.insert(t, canary{org: w.erased.org, marker: w.erased.marker}, "broadcasts", map[string]string{"id": unrelated(w.erased)})
		erase := func(before int64, want bool) {
			t.Helper()
			done, err := archive.EraseArchived(t.Context(), w.erased.org, w.erased.contact, time.UnixMicro(before))
			must(t, err)
			if done != want {
				t.Errorf("erased %v, want %v", done, want)
			}
		}
		erase(6, false) // it is not archived
		w.execute(t, "UPDATE contacts SET status = 'archived'")
		erase(5, false) // it was changed later
		before := w.dump(t)
		erase(6, true)
		erase(6, false)
		after := w.dump(t)
		cleared := []string{"handover_recipients"}
		for _, table := range privacy.OfArchived() {
			cleared = append(cleared, table.Name)
		}
		for _, table := range cleared {
			for _, row := range mentioning(map[string][]string{table: after[table]}, w.erased.traces()...) {
				if !strings.Contains(row, w.other.org) {
					t.Errorf("after the erasure there is %s", row)
				}
			}
		}
		for _, c := range []canary{w.kept, w.other} {
			if got, want := mentioning(after, c.marker), mentioning(before, c.marker); !slices.Equal(got, want) {
				t.Errorf("rows of %s have changed:\n%s\nwant\n%s", c.marker, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		}
		refused, err := privacy.Erased{Store: w.Tombstones, Hasher: archive.Hasher}.Refusals(t.Context(), w.erased.org, []string{w.erased.email, w.kept.email})
		must(t, err)
		if want := map[string]privacy.Refusal{w.erased.email: privacy.Bounced}; !maps.Equal(refused, want) {
			t.Errorf("refused %v, want %v", refused, want)
		}
	})
}
