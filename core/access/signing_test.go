package access_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

func TestSigningKeysOfTwoProcessesAreOne(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		g, master := newGate(t, db), masterKey(t)
		ids := make([]string, 4)
		var wg sync.WaitGroup
		for i := range ids {
			wg.Go(func() {
				keys, err := access.NewSigningKeys(t.Context(), g.store, master, g.clock)
				if err != nil {
					t.Error(err)
					return
				}
				ids[i], _ = keys.Current()
			})
		}
		wg.Wait()
		for _, id := range ids {
			if id != ids[0] || !core.IsID(id) {
				t.Fatalf("kids %q", ids)
			}
		}
	})
}

func TestSigningKeysNeedTheirMasterKey(t *testing.T) {
	t.Parallel()
	g := newGate(t, storagetest.SQLite(t))
	if _, err := access.NewSigningKeys(t.Context(), g.store, masterKey(t), g.clock); err != nil {
		t.Fatal(err)
	}
	_, err := access.NewSigningKeys(t.Context(), g.store, masterKey(t), g.clock)
	if err == nil || !strings.Contains(err.Error(), "master key") {
		t.Errorf("with another master key: %v", err)
	}
	stored, err := g.store.SigningKeys(t.Context())
	if err != nil || len(stored) != 1 {
		t.Errorf("the store holds %d keys, %v", len(stored), err)
	}
}

func TestRetiredSigningKeyServesOneTokenLifetime(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		g, master := newGate(t, db), masterKey(t)
		first, err := access.NewSigningKeys(t.Context(), g.store, master, g.clock)
		g.must(err)
		old, _ := first.Current()

		// A rotation as an operator's tool would do it: the old key, retired, into
		// an empty store, where the next start makes a new one.
		kept, err := g.store.SigningKeys(t.Context())
		g.must(err)
		next := storagetest.SQLite(t)
		kept[0].RetiredAt = &start
		_, err = next.Access().InsertSigningKey(t.Context(), kept[0])
		g.must(err)
		g.advance(time.Second)
		keys, err := access.NewSigningKeys(t.Context(), next.Access(), master, g.clock)
		g.must(err)
		current, _ := keys.Current()
		if current == old || len(keys.Published()) != 2 || keys.Published()[0].ID != current {
			t.Errorf("current %s, published %v", current, keys.Published())
		}
		if _, ok := keys.Public(old); !ok {
			t.Error("tokens of the retired key cannot be checked")
		}
		g.advance(access.AccessTokenLifetime)
		if _, ok := keys.Public(old); ok || len(keys.Published()) != 1 {
			t.Error("the retired key is still published when its last token has expired")
		}
		if _, ok := keys.Public("unknown"); ok {
			t.Error("an unknown kid has a key")
		}
	})
}
