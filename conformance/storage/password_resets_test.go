package storage_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/passwordchange"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

func TestPasswordResets(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		ctx, store, ada, bob := t.Context(), db.PasswordResets(), newUser(t, db), newUser(t, db)
		must(t, db.Users().SetPassword(ctx, ada.ID, "$argon2id$y"))
		got, err := db.Users().UserByID(ctx, ada.ID)
		must(t, err)
		if got.PasswordHash != "$argon2id$y" {
			t.Errorf("password hash %q", got.PasswordHash)
		}
		wantCode(t, "the password of nobody", db.Users().SetPassword(ctx, core.NewID(), "x"), core.CodeNotFound)

		r := passwordchange.Reset{Hash: []byte("a"), UserID: ada.ID, Mark: []byte{1, 0, 2}, CreatedAt: start, ExpiresAt: later(100)}
		must(t, store.InsertReset(ctx, r))
		wantCode(t, "a link twice", store.InsertReset(ctx, r), core.CodeConflict)
		must(t, store.InsertReset(ctx, passwordchange.Reset{Hash: []byte("b"), UserID: ada.ID, Mark: []byte{3}, CreatedAt: start, ExpiresAt: later(50)}))
		must(t, store.InsertReset(ctx, passwordchange.Reset{Hash: []byte("c"), UserID: bob.ID, Mark: []byte{3}, CreatedAt: start, ExpiresAt: later(50)}))
		found, err := store.Reset(ctx, r.Hash, later(99))
		must(t, err)
		if diff := cmp.Diff(r, found); diff != "" {
			t.Errorf("Reset (-want +got):\n%s", diff)
		}
		for at, want := range map[int]int{0: 2, 50: 1, 100: 0} {
			if open, err := store.OpenResets(ctx, ada.ID, later(at)); open != want || err != nil {
				t.Errorf("%d open after %d s, %v", open, at, err)
			}
		}
		_, err = store.Reset(ctx, r.Hash, later(100))
		wantCode(t, "an expired link", err, core.CodeNotFound)
		_, err = store.TakeReset(ctx, r.Hash, later(100))
		wantCode(t, "an expired link, taken", err, core.CodeNotFound)

		wantOneWinner(t, atOnce(8, func(int) error {
			_, err := store.TakeReset(ctx, r.Hash, later(1))
			return err
		}), core.CodeNotFound)
		must(t, store.DeleteResetsOf(ctx, ada.ID))
		_, err = store.Reset(ctx, []byte("b"), start)
		wantCode(t, "a voided link", err, core.CodeNotFound)
		_, err = store.Reset(ctx, []byte("c"), start)
		must(t, err)
	})
}

func TestPurgeOfPasswordResets(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		ctx, store := t.Context(), db.PasswordResets()
		must(t, store.InsertReset(ctx, passwordchange.Reset{Hash: []byte("r"), UserID: newUser(t, db).ID, Mark: []byte{1}, CreatedAt: start, ExpiresAt: later(10)}))
		for _, step := range []struct {
			now  time.Time
			want int
		}{
			{later(9), 0}, {later(10), 1}, {later(10), 0},
		} {
			if purged, err := store.PurgeResets(ctx, step.now); purged != step.want || err != nil {
				t.Errorf("PurgeResets at %v: %d, %v, want %d", step.now, purged, err, step.want)
			}
		}
	})
}
