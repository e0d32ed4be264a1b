package engine_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/mailhelm/mailhelm/core"
)

// TestStatementsArePreparedAtTheirSecondUse checks that a read is prepared when it runs the
// second time, inside a transaction and outside.
func TestStatementsArePreparedAtTheirSecondUse(t *testing.T) {
	t.Parallel()
	eachDatabase(t, func(t *testing.T, db *database) {
		read := func(ctx context.Context) {
			t.Helper()
			_, err := db.Orgs().OrgIDs(ctx)
			must(t, err)
		}
		expect := func(writes bool, want int) {
			t.Helper()
			if n := db.Prepared(writes); n != want {
				t.Errorf("%d statements are prepared, want %d", n, want)
			}
		}
		inTx := func(uses int) {
			t.Helper()
			must(t, db.InTx(t.Context(), func(ctx context.Context) error {
				for range uses {
					read(ctx)
				}
				return nil
			}))
		}
		inTx(1)
		expect(true, 0)
		inTx(2)
		expect(true, 1)
		inTx(2)
		expect(true, 1)
		// On PostgreSQL this read uses the same pool as the transactions; on SQLite it uses
		// the pool for reads.
		read(t.Context())
		read(t.Context())
		expect(false, 1)
	})
}

// TestATransactionPreparesWhatItUsesAgain checks that a transaction prepares a statement at
// its third use, and that prepared and unprepared uses insert their rows. After the
// transaction, committed or rolled back, the pool must have prepared the statement.
func TestATransactionPreparesWhatItUsesAgain(t *testing.T) {
	t.Parallel()
	errUndone := errors.New("undone")
	for _, end := range []error{nil, errUndone} {
		eachDatabase(t, func(t *testing.T, db *database) {
			err := db.InTx(t.Context(), func(ctx context.Context) error {
				for use, want := range []int{0, 0, 1, 1} {
					must(t, db.Orgs().InsertOrg(ctx, core.Org{ID: core.NewID(), Name: "Acme", Slug: fmt.Sprintf("acme-%d", use), Tier: "free"}))
					if n := db.PreparedInside(ctx); n != want {
						t.Errorf("%d statements are prepared after use %d, want %d", n, use+1, want)
					}
				}
				return end
			})
			if !errors.Is(err, end) {
				t.Fatal(err)
			}
			if n := db.Prepared(true); n != 1 {
				t.Errorf("%d statements are prepared afterwards, want 1", n)
			}
			want := 4
			if end != nil {
				want = 0
			}
			if ids, err := db.Orgs().OrgIDs(t.Context()); err != nil || len(ids) != want {
				t.Errorf("%d organizations, %v, want %d", len(ids), err, want)
			}
		})
	}
}

// TestFirstUsesAtOnce checks that a statement is prepared once if many callers use it for
// the first time at the same moment.
func TestFirstUsesAtOnce(t *testing.T) {
	t.Parallel()
	eachDatabase(t, func(t *testing.T, db *database) {
		var all sync.WaitGroup
		for i := range 24 {
			all.Go(func() {
				use := func(ctx context.Context) error {
					_, err := db.Orgs().OrgIDs(ctx)
					return err
				}
				if i%2 == 0 {
					if err := use(t.Context()); err != nil {
						t.Error(err)
					}
					return
				}
				if err := db.InTx(t.Context(), use); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if n := db.Prepared(false); n != 1 {
			t.Errorf("%d statements are prepared for reads, want 1", n)
		}
	})
}
