package engine_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// TestPoolStats checks that the figures of a pool count connections in use, and calls that
// wait or get no connection.
func TestPoolStats(t *testing.T) {
	t.Parallel()
	eachDatabase(t, func(t *testing.T, db *database) {
		name := map[engine.Dialect]string{engine.SQLite: "write", engine.PostgreSQL: "main"}[db.Dialect()]
		stats := func() engine.PoolStats {
			all := db.PoolStats()
			i := slices.IndexFunc(all, func(s engine.PoolStats) bool { return s.Name == name })
			if i < 0 {
				t.Fatalf("no pool %s in %+v", name, all)
			}
			return all[i]
		}
		if s := stats(); s.Limit < 1 || s.InUse != 0 || s.Waits != 0 {
			t.Errorf("at first: %+v", s)
		}
		db.SetCallerWait(10 * time.Millisecond)
		slots := db.WriterSlots()
		err := holdAll(t.Context(), db, slots, func() {
			if s := stats(); s.InUse != slots {
				t.Errorf("%d in use, want %d", s.InUse, slots)
			}
			err := db.InTx(t.Context(), func(context.Context) error { return nil })
			if core.AsError(err).Code != core.CodeOverloaded {
				t.Errorf("with no free connection: %v", err)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		if s := stats(); s.InUse != 0 || s.Waits != 1 || s.Refused != 1 || s.Waiting != 0 || s.Waited < 10*time.Millisecond {
			t.Errorf("at last: %+v", s)
		}
	})
}

// holdAll begins n transactions, one in the other by other contexts, and calls f in the last.
func holdAll(ctx context.Context, db *database, n int, f func()) error {
	if n == 0 {
		f()
		return nil
	}
	return db.InTx(ctx, func(context.Context) error { return holdAll(ctx, db, n-1, f) })
}
