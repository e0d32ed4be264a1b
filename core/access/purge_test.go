package access_test

import (
	"log/slog"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

func TestPurgeForgetsWhatHasExpired(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		g := newGate(t, db)
		short, long := core.NewID(), core.NewID()
		g.must(db.Grants().DenyToken(t.Context(), short, start.Add(time.Minute)))
		g.must(db.Grants().DenyToken(t.Context(), long, start.Add(time.Hour)))
		session := access.Session{
			Hash: access.HashSecret("x"), UserID: core.NewID(), OrgID: g.org.ID, CreatedAt: start, LastSeenAt: start, ExpiresAt: start.Add(time.Minute),
		}
		g.must(db.Sessions().InsertSession(t.Context(), session))
		g.advance(2 * time.Minute)
		stores := access.PurgeStores{Grants: db.Grants(), Sessions: db.Sessions(), Signing: db.Access(), Open: db.OpenClients(), Factors: db.SecondFactors()}
		purge := access.PurgeWorker(stores, g.clock, slog.New(slog.DiscardHandler))
		g.must(purge.Work(t.Context(), access.PurgeArgs{}))
		for id, want := range map[string]bool{short: false, long: true} {
			if denied, err := db.Grants().TokenDenied(t.Context(), id); err != nil || denied != want {
				t.Errorf("token denied: %v, %v", denied, err)
			}
		}
		// start is before its end, so only the purge can have taken it.
		if _, err := db.Sessions().Session(t.Context(), session.Hash, start); err == nil {
			t.Error("the session is still there")
		}
	})
}
