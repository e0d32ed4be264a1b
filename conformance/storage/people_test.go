package storage_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

func TestKnownDevices(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		ctx, store, ada, bob := t.Context(), db.People(), newUser(t, db), newUser(t, db)
		put := func(name string, user string, at int) people.Device {
			t.Helper()
			d := people.Device{Hash: []byte(name), UserID: user, LastUsedAt: later(at), ExpiresAt: later(at + 100)}
			must(t, store.PutDevice(ctx, d, 3))
			return d
		}
		want := func(name string, at int, known bool) {
			t.Helper()
			if _, _, err := store.Device(ctx, []byte(name), later(at)); (err == nil) != known || err != nil && core.AsError(err).Code != core.CodeNotFound {
				t.Errorf("%s: %v, want known: %v", name, err, known)
			}
		}
		put("a", ada.ID, 0)
		d := put("b", ada.ID, 1)
		put("c", ada.ID, 2)
		put("z", bob.ID, 0)
		found, email, err := store.Device(ctx, d.Hash, start)
		must(t, err)
		if diff := cmp.Diff(d, found); diff != "" || email != ada.Email {
			t.Errorf("Device of %s (-want +got):\n%s", email, diff)
		}
		put("a", ada.ID, 3) // device "a" is used again, so "b" is now the least recently used
		put("d", ada.ID, 4)
		for name, known := range map[string]bool{"a": true, "b": false, "c": true, "d": true, "z": true} {
			want(name, 10, known)
		}
		want("c", 102, false)
		stolen := people.Device{Hash: []byte("a"), UserID: bob.ID, LastUsedAt: later(9), ExpiresAt: later(999)}
		wantCode(t, "a device of somebody else", store.PutDevice(ctx, stolen, 3), core.CodeNotFound)
		must(t, store.DeleteDevicesOf(ctx, ada.ID, []byte("c")))
		for name, known := range map[string]bool{"a": false, "c": true, "d": false, "z": true} {
			want(name, 10, known)
		}
		must(t, store.DeleteDevicesOf(ctx, ada.ID, nil))
		want("c", 10, false)
		want("z", 10, true)
	})
}

func TestPasswordWarnings(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		ctx, store, ada := t.Context(), db.People(), core.NewID()
		_, err := store.WarnedAt(ctx, ada)
		wantCode(t, "never warned", err, core.CodeNotFound)
		for _, at := range []int{100, 300} {
			wantWinners(t, "Warn", 1, atOnce(8, func(int) error { return lostIfFalse(store.Warn(ctx, ada, later(at), later(at-100))) }))
		}
		if first, err := store.Warn(ctx, ada, later(350), later(250)); first || err != nil {
			t.Errorf("too early: %v, %v", first, err)
		}
		if at, err := store.WarnedAt(ctx, ada); err != nil || !at.Equal(later(300)) {
			t.Errorf("warned at %v, %v", at, err)
		}
		must(t, store.PutDevice(ctx, people.Device{Hash: []byte("d"), UserID: ada, LastUsedAt: start, ExpiresAt: later(10)}, 3))
		for _, step := range []struct {
			now, warnings time.Time
			want          int
		}{
			{later(9), later(300), 0}, {later(10), later(300), 1}, {later(10), later(301), 1}, {later(10), later(301), 0},
		} {
			if purged, err := store.Purge(ctx, step.now, step.warnings); purged != step.want || err != nil {
				t.Errorf("Purge at %v: %d, %v, want %d", step.now, purged, err, step.want)
			}
		}
	})
}
