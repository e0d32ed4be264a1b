package privacy_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/privacy"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// journal keeps entries in memory.
type journal struct{ entries []privacy.Entry }

func (j *journal) Append(e privacy.Entry) error { j.entries = append(j.entries, e); return nil }

// TestRestoredPersonIsErasedAgain restores the rows of an erased person, as a copy of the
// database from before the erasure does. The journal alone must be enough to erase the person
// again, and no one else.
func TestRestoredPersonIsErasedAgain(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := newWorld(t, db)
		w.execute(t, "DELETE FROM received_mail")
		before := w.dump(t)
		_, err := w.Erase(t.Context(), access.ActorOf(access.Operator), w.erased.org, w.erased.email)
		must(t, err)
		w.execute(t, "DELETE FROM erased_addresses")
		w.erased.marker = "zyx-alpha-restored" // other rows, because those that were rewritten are still there
		w.plant(t, w.erased)
		w.execute(t, "DELETE FROM received_mail")

		stones := privacy.Latest(w.journal.entries, w.erased.org)
		done, err := w.Restore(t.Context(), access.ActorOf(access.Operator), w.erased.org, stones)
		must(t, err)
		if want := (privacy.Restored{Erased: 1}); done != want {
			t.Errorf("restored %+v, want %+v", done, want)
		}
		w.checkErased(t, before)
		refused, err := privacy.Erased{Store: w.Tombstones, Hasher: func() (privacy.Hasher, error) { return w.Hasher, nil }}.
			Refusals(t.Context(), w.erased.org, []string{w.erased.email, w.kept.email})
		must(t, err)
		if want := map[string]privacy.Refusal{w.erased.email: privacy.Bounced}; !maps.Equal(refused, want) {
			t.Errorf("refused %v, want %v", refused, want)
		}
	})
}

// TestPersonWhoCameBackIsKept erases a person whose address then becomes a contact again.
func TestPersonWhoCameBackIsKept(t *testing.T) {
	t.Parallel()
	storagetest.Once(t, func(t *testing.T, db *storage.DB) {
		w := newWorld(t, db)
		stone := privacy.Tombstone{Hash: w.Hasher.Hash(w.kept.org, w.kept.email), ErasedAt: time.UnixMicro(1)}
		w.execute(t, "UPDATE contacts SET created_at = 2")
		done, err := w.Restore(t.Context(), access.ActorOf(access.Operator), w.kept.org, map[string]privacy.Tombstone{string(stone.Hash): stone})
		must(t, err)
		if want := (privacy.Restored{Newer: 1}); done != want {
			t.Errorf("restored %+v, want %+v", done, want)
		}
	})
}

// TestLatestEntries checks that an address that was allowed again is not erased after a restore.
func TestLatestEntries(t *testing.T) {
	t.Parallel()
	entry := func(org, hash string, allowed bool) privacy.Entry {
		return privacy.Entry{OrgID: org, Tombstone: privacy.Tombstone{Hash: []byte(hash)}, Allowed: allowed}
	}
	latest := privacy.Latest([]privacy.Entry{
		entry("o", "a", false), entry("o", "b", false), entry("other", "c", false), entry("o", "a", true), entry("o", "d", true), entry("o", "d", false),
	}, "o")
	if got := slices.Sorted(maps.Keys(latest)); !slices.Equal(got, []string{"b", "d"}) {
		t.Errorf("the latest are %q", got)
	}
}

// TestLatestEntriesOfSeveralJournals joins the journals of two servers in both orders. The time of
// an entry decides, not its place.
func TestLatestEntriesOfSeveralJournals(t *testing.T) {
	t.Parallel()
	entry := func(hash string, at int64, allowed bool) privacy.Entry {
		return privacy.Entry{OrgID: "o", Tombstone: privacy.Tombstone{Hash: []byte(hash), ErasedAt: time.UnixMicro(at)}, Allowed: allowed}
	}
	one := []privacy.Entry{entry("again", 1, false), entry("again", 2, true), entry("allowed", 5, true)}
	other := []privacy.Entry{entry("again", 3, false), entry("allowed", 4, false)}
	for _, entries := range [][]privacy.Entry{slices.Concat(one, other), slices.Concat(other, one)} {
		if got := slices.Collect(maps.Keys(privacy.Latest(entries, "o"))); !slices.Equal(got, []string{"again"}) {
			t.Errorf("the latest are %q", got)
		}
	}
}

func (p planted) execute(t *testing.T, statement string) {
	t.Helper()
	_, err := p.Writer().ExecContext(t.Context(), statement)
	must(t, err)
}
