package engine_test

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/lib/pq"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/storage/engine"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

func TestInTxRepeatsAfterASerializationFailure(t *testing.T) {
	t.Parallel()
	db := postgresDatabase(t)
	runs := 0
	err := db.InTx(t.Context(), func(ctx context.Context) error {
		runs++
		if err := db.Orgs().InsertOrg(ctx, core.Org{ID: core.NewID(), Slug: "retried"}); err != nil {
			return err
		}
		if runs < 3 {
			return db.ExecText(ctx, "DO $$ BEGIN RAISE EXCEPTION 'by test' USING ERRCODE = '40001'; END $$")
		}
		return nil
	})
	if err != nil || runs != 3 {
		t.Errorf("%d runs, %v; want 3 and no error", runs, err)
	}
	if _, err := db.Orgs().OrgBySlug(t.Context(), "retried"); err != nil {
		t.Error(err)
	}
}

func TestInTxGivesUp(t *testing.T) {
	t.Parallel()
	db := postgresDatabase(t)
	runs := 0
	err := db.InTx(t.Context(), func(ctx context.Context) error {
		runs++
		return db.ExecText(ctx, "DO $$ BEGIN RAISE EXCEPTION 'by test' USING ERRCODE = '40P01'; END $$")
	})
	if e, ok := errors.AsType[*pq.Error](err); !ok || e.Code != "40P01" {
		t.Errorf("error %v, want the deadlock", err)
	}
	if runs < 2 || runs > 10 {
		t.Errorf("%d runs", runs)
	}
}

// TestDeadlocksAreRepeated checks that two transactions that lock the same two rows in
// opposite order both succeed. PostgreSQL aborts one of them, and InTx must retry the
// aborted one.
func TestDeadlocksAreRepeated(t *testing.T) {
	t.Parallel()
	db := postgresDatabase(t)
	ids := []string{core.NewID(), core.NewID()}
	for _, id := range ids {
		if err := db.Orgs().InsertOrg(t.Context(), core.Org{ID: id, Slug: id}); err != nil {
			t.Fatal(err)
		}
	}
	limit, outcome := 1, make(chan error, 2)
	lock := func(first, second string, mine, other chan struct{}) {
		// The transactions wait for each other only in their first attempt. In a retry, one
		// transaction may lock both rows while the other waits for its first row. The waiting
		// transaction then cannot call meet.
		meet := sync.OnceFunc(func() {
			close(mine)
			<-other
		})
		outcome <- db.InTx(t.Context(), func(ctx context.Context) error {
			if err := db.Orgs().SetRateLimit(ctx, first, &limit); err != nil {
				return err
			}
			meet()
			return db.Orgs().SetRateLimit(ctx, second, &limit)
		})
	}
	one, two := make(chan struct{}), make(chan struct{})
	go lock(ids[0], ids[1], one, two)
	go lock(ids[1], ids[0], two, one)
	if err := errors.Join(<-outcome, <-outcome); err != nil {
		t.Error(err)
	}
}

func TestCancelledCallsSayWhy(t *testing.T) {
	t.Parallel()
	eachDatabase(t, func(t *testing.T, db *database) {
		cancelled, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := db.Orgs().OrgIDs(cancelled); !errors.Is(err, context.Canceled) {
			t.Errorf("a cancelled read: %v", err)
		}
		if err := db.InTx(cancelled, func(context.Context) error { return nil }); !errors.Is(err, context.Canceled) {
			t.Errorf("a cancelled transaction: %v", err)
		}
	})
}

// TestDeadlineDuringAStatement checks that a deadline during a statement gives
// context.DeadlineExceeded, although PostgreSQL reports an error of its own.
func TestDeadlineDuringAStatement(t *testing.T) {
	t.Parallel()
	db := postgresDatabase(t)
	id := core.NewID()
	if err := db.Orgs().InsertOrg(t.Context(), core.Org{ID: id, Slug: id}); err != nil {
		t.Fatal(err)
	}
	limit := 1
	err := db.InTx(t.Context(), func(ctx context.Context) error {
		if err := db.Orgs().SetRateLimit(ctx, id, &limit); err != nil {
			return err
		}
		blocked, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		// blocks, because the outer transaction has locked the organization's row
		return db.Orgs().SetRateLimit(blocked, id, &limit)
	})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v, want the deadline", err)
	}
}

func TestPanicUndoes(t *testing.T) {
	t.Parallel()
	eachDatabase(t, func(t *testing.T, db *database) {
		func() {
			defer func() { _ = recover() }()
			_ = db.InTx(t.Context(), func(ctx context.Context) error {
				_ = db.Orgs().InsertOrg(ctx, core.Org{ID: core.NewID(), Slug: "panicked"})
				panic("by test")
			})
		}()
		if ids, err := db.Orgs().OrgIDs(t.Context()); err != nil || len(ids) != 0 {
			t.Errorf("after a panic %d orgs, %v", len(ids), err)
		}
	})
}

func TestTransactionOfAnotherDatabase(t *testing.T) {
	t.Parallel()
	one, other := sqliteDatabase(t), sqliteDatabase(t)
	failed := errors.New("by test")
	err := one.InTx(t.Context(), func(ctx context.Context) error {
		if err := other.Orgs().InsertOrg(ctx, core.Org{ID: core.NewID(), Slug: "x"}); err != nil {
			return err
		}
		return failed
	})
	if !errors.Is(err, failed) {
		t.Fatal(err)
	}
	if _, err := other.Orgs().OrgBySlug(t.Context(), "x"); err != nil {
		t.Errorf("one database's rollback reached another: %v", err)
	}
}

// TestConnectionsToAReadOnlyServerAreReplaced makes the open connections refuse writes, as those to
// the former primary do after a failover. A write and a transaction must succeed, on new ones.
func TestConnectionsToAReadOnlyServerAreReplaced(t *testing.T) {
	t.Parallel()
	db := openDatabase(t, engine.Config{URL: enginetest.PostgresURL(t), MaxConns: 4})
	refuseWrites := func() {
		conns := make([]*sql.Conn, db.WriterSlots())
		for i := range conns {
			var err error
			if conns[i], err = db.Writer().Conn(t.Context()); err != nil {
				t.Fatal(err)
			}
			if _, err := conns[i].ExecContext(t.Context(), "SET default_transaction_read_only = on"); err != nil {
				t.Fatal(err)
			}
		}
		for _, conn := range conns {
			must(t, conn.Close()) // gives it back
		}
	}
	refuseWrites()
	must(t, insertOrg(t.Context(), db))
	refuseWrites()
	must(t, db.InTx(t.Context(), func(ctx context.Context) error { return insertOrg(ctx, db) }))
	if ids, err := db.Orgs().OrgIDs(t.Context()); err != nil || len(ids) != 2 {
		t.Errorf("organizations: %v, %v", ids, err)
	}
}
