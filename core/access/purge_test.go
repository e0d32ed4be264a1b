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
		g.must(db.Tokens().DenyToken(t.Context(), short, start.Add(time.Minute)))
		g.must(db.Tokens().DenyToken(t.Context(), long, start.Add(time.Hour)))
		g.advance(2 * time.Minute)
		purge := access.PurgeWorker(db.Access(), g.clock, slog.New(slog.DiscardHandler))
		g.must(purge.Work(t.Context(), access.PurgeArgs{}))
		for id, want := range map[string]bool{short: false, long: true} {
			if denied, err := db.Tokens().IsTokenDenied(t.Context(), id); err != nil || denied != want {
				t.Errorf("token denied: %v, %v", denied, err)
			}
		}
	})
}
