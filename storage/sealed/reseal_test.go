package sealed_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/signing"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/sealed"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// someKeys is more than two batches of values.
const someKeys = 450

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func newKey(t *testing.T, fill byte) signing.MasterKey {
	t.Helper()
	key, err := signing.NewMasterKey(bytes.Repeat([]byte{fill}, 32))
	must(t, err)
	return key
}

// following returns another copy of a key, which has loaded what the database has, as in a
// server.
func following(t *testing.T, db *storage.DB, fill byte) signing.MasterKey {
	t.Helper()
	key := newKey(t, fill)
	must(t, key.Follow(t.Context(), db.MasterKeys(), time.Now))
	return key
}

// fillKeys stores signing keys that are sealed with the key, all but one retired, and a
// connection with a secret.
func fillKeys(t *testing.T, db *storage.DB, key signing.MasterKey) (orgID string) {
	t.Helper()
	now := time.Now()
	for i := range someKeys {
		id := core.NewID()
		value, err := key.Seal("signing key", id, fmt.Append(nil, "value ", i))
		must(t, err)
		k := signing.Key{ID: id, Algorithm: "ES256", Sealed: value, CreatedAt: now, RetiredAt: &now}
		_, err = db.SigningKeys().InsertSigningKey(t.Context(), k)
		must(t, err)
	}
	org := core.Org{ID: core.NewID(), Slug: "acme", Name: "Acme"}
	must(t, db.Orgs().InsertOrg(t.Context(), org))
	must(t, db.Connections(key).SaveConnection(t.Context(), sending.Connection{OrgID: org.ID, Provider: sending.SMTP, Secret: "password", CreatedAt: now, UpdatedAt: now}))
	return org.ID
}

// checkAll checks that the key alone opens all values.
func checkAll(t *testing.T, db *storage.DB, key signing.MasterKey, orgID string) {
	t.Helper()
	stored, err := db.SigningKeys().SigningKeys(t.Context())
	must(t, err)
	for _, k := range stored {
		if _, err := key.Open("signing key", k.ID, k.Sealed); err != nil {
			t.Fatalf("signing key %s: %v", k.ID, err)
		}
	}
	if c, err := db.Connections(key).Connection(t.Context(), orgID); err != nil || c.Secret != "password" || len(stored) != someKeys {
		t.Errorf("%d keys, connection %v", len(stored), err)
	}
}

func derived(t *testing.T, key signing.MasterKey) string {
	t.Helper()
	value, err := key.Derive("links", 32)
	must(t, err)
	return string(value)
}

// TestRotation replaces the master key twice. During a rotation, processes with either key open
// all values and seal with the next one. An interrupted run is continued. After Finish only the
// new key opens the values, and a process with the former key is refused. Derived keys never
// change.
func TestRotation(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		first := following(t, db, 1)
		orgID := fillKeys(t, db, first)
		links := derived(t, first)
		for round := byte(1); round <= 2; round++ {
			rotate(t, db, round, round+1, orgID, links)
		}
	})
}

// rotate rotates from one key to the next. A server with the present key runs all the time.
func rotate(t *testing.T, db *storage.DB, from, to byte, orgID, links string) {
	t.Helper()
	succession := signing.Succession{Store: db.MasterKeys(), Transactor: db, Clock: time.Now}
	running, command := following(t, db, from), following(t, db, from)
	must(t, succession.Begin(t.Context(), command, newKey(t, to)))
	must(t, succession.Begin(t.Context(), command, newKey(t, to)))
	if e := core.AsError(succession.Begin(t.Context(), following(t, db, from), newKey(t, 99))); e == nil || e.Code != core.CodeConflict {
		t.Errorf("another rotation at the same time: %v", e)
	}

	interrupted, cancel := context.WithCancel(t.Context())
	defer cancel()
	if _, err := sealed.Reseal(interrupted, db.DB, command, func(int64) { cancel() }); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
	// The running server has not looked for a new key yet. Values under both keys open, also for
	// concurrent readers, of which one looks.
	var readers sync.WaitGroup
	for range 20 {
		readers.Go(func() {
			stored, err := db.SigningKeys().SigningKeys(t.Context())
			for _, k := range stored {
				if _, failed := running.Open("signing key", k.ID, k.Sealed); failed != nil {
					err = failed
				}
			}
			if err != nil {
				t.Errorf("a concurrent reader: %v", err)
			}
		})
	}
	readers.Wait()
	checkAll(t, db, running, orgID)
	checkAll(t, db, following(t, db, to), orgID)
	if running.SealsWith() != newKey(t, to).ID() {
		t.Error("the running server seals with the former key after it opened a value of the next one")
	}

	counts, err := sealed.Reseal(t.Context(), db.DB, command, func(int64) {})
	must(t, err)
	if counts[0].Values != someKeys || counts[0].Resealed == 0 || counts[0].Resealed >= someKeys {
		t.Errorf("after the interruption: %+v", counts[0])
	}
	again, err := sealed.Reseal(t.Context(), db.DB, command, func(int64) {})
	must(t, err)
	for _, c := range again {
		if c.Resealed > 0 {
			t.Errorf("sealed anew twice: %+v", c)
		}
	}
	must(t, succession.Finish(t.Context()))
	must(t, succession.Finish(t.Context()))
	checkAll(t, db, newKey(t, to), orgID)
	checkAll(t, db, running, orgID)
	if err := newKey(t, from).Follow(t.Context(), db.MasterKeys(), time.Now); !errors.Is(err, signing.ErrForeignKey) {
		t.Errorf("the former key: %v", err)
	}
	for name, key := range map[string]signing.MasterKey{"the running server": running, "the next server": following(t, db, to)} {
		if derived(t, key) != links {
			t.Errorf("%s derives other keys", name)
		}
	}
}

// TestResealNamesAValueThatDoesNotOpen checks that values of an unknown key are named and stay.
func TestResealNamesAValueThatDoesNotOpen(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		fillKeys(t, db, newKey(t, 7))
		counts, err := sealed.Reseal(t.Context(), db.DB, following(t, db, 1), func(int64) {})
		if err != nil || counts[0].Column != "signing_keys.sealed" || len(counts[0].Unreadable) != someKeys || counts[0].Resealed > 0 {
			t.Errorf("%v, %d unreadable", err, len(counts[0].Unreadable))
		}
		stored, err := db.SigningKeys().SigningKeys(t.Context())
		if err != nil || signing.CheckKeys(stored, newKey(t, 1)) == nil {
			t.Errorf("the values changed: %v", err)
		}
	})
}
