package engine

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

const (
	maxAttempts = 6
	firstPause  = 5 * time.Millisecond
)

type transactionKey struct{}

// transaction is the open transaction that a context carries. It names its database,
// because one context may be used with several databases.
type transaction struct {
	db   *DB
	pool *pool
	tx   *sql.Tx
	// kept holds the values of rooms; see TxMemory.
	kept map[any]any
	// noted are statements to prepare after the transaction.
	noted []*Statement
}

// transaction returns the transaction of this database that ctx carries, or nil.
func (db *DB) transaction(ctx context.Context) *transaction {
	if t, ok := ctx.Value(transactionKey{}).(*transaction); ok && t.db == db {
		return t
	}
	return nil
}

// InTransaction reports whether ctx carries a transaction of this database.
func (db *DB) InTransaction(ctx context.Context) bool { return db.transaction(ctx) != nil }

// LockedInside returns the statement to read a row with: lock inside a transaction, so that
// a write follows from what was read, and read outside of one.
func (db *DB) LockedInside(ctx context.Context, read, lock *Statement) *Statement {
	if !db.InTransaction(ctx) {
		return read
	}
	return lock
}

// InTx runs f inside one transaction; see [core.Transactor]. Inside another transaction
// it joins that one: only a rollback of the outer transaction undoes what f did, not an
// error of f alone. PostgreSQL uses read committed, or repeatable read for
// [core.Snapshot].
func (db *DB) InTx(ctx context.Context, f func(ctx context.Context) error) error {
	if db.transaction(ctx) != nil {
		return f(ctx)
	}
	return db.Retry(ctx, func() error { return db.once(ctx, f) })
}

func (db *DB) once(ctx context.Context, f func(ctx context.Context) error) error {
	p := db.pool(ctx, true)
	pass, err := p.gate.enter(ctx)
	if err != nil {
		return fmt.Errorf("storage: begin: %w", err)
	}
	defer pass.leave()
	tx, err := p.sql.BeginTx(ctx, db.isolation(ctx))
	if err != nil {
		return unbegun{fmt.Errorf("storage: begin: %w", db.cause(ctx, err))}
	}
	t := &transaction{db: db, pool: p, tx: tx}
	defer t.prepareNoted(ctx)
	// After a commit Rollback does nothing. Otherwise, also after a panic, it undoes the
	// transaction.
	defer func() { _ = tx.Rollback() }()
	if err := f(context.WithValue(ctx, transactionKey{}, t)); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("storage: commit: %w", db.cause(ctx, err))
	}
	return nil
}

// prepareNoted prepares the statements that the transaction used and that ran before. It
// runs after the end of the transaction, while the caller still has its place at the gate.
// It ignores errors: such a statement runs as text again.
func (t *transaction) prepareNoted(ctx context.Context) {
	for _, s := range t.noted {
		if _, err := t.pool.prepare(ctx, s); err != nil { //nolint:sqlclosecheck // lives as long as the pool
			return
		}
	}
}

// unbegun wraps an error that occurred before any change, so that the call may run again.
type unbegun struct{ error }

func (u unbegun) Unwrap() error { return u.error }

// isolation returns the options of the transaction of ctx. On SQLite a transaction that
// writes excludes all others, so it needs none.
func (db *DB) isolation(ctx context.Context) *sql.TxOptions {
	if db.dialect == SQLite || !core.WantsSnapshot(ctx) {
		return nil
	}
	return &sql.TxOptions{Isolation: sql.LevelRepeatableRead}
}

// Retry runs f, and repeats it while it fails because of a concurrent transaction. It
// repeats f once if the connection was lost before f changed anything, because a restart
// of the database breaks all connections. Inside a transaction f runs once: only the
// outermost call can repeat the whole transaction.
func (db *DB) Retry(ctx context.Context, f func() error) error {
	if db.transaction(ctx) != nil {
		return f()
	}
	renewed := false
	for attempt := 1; ; attempt++ {
		err := f()
		if err == nil || attempt == maxAttempts {
			return err
		}
		_, unchanged := errors.AsType[unbegun](err)
		switch {
		case retryable(err), isBusy(err) && core.LaneOf(ctx) == core.Background:
		case unchanged && isLost(err) && !renewed:
			renewed = true
			for _, p := range db.pools() {
				p.dropIdle()
			}
		default:
			return err
		}
		if pauseErr := pause(ctx, attempt); pauseErr != nil {
			return errors.Join(pauseErr, err)
		}
	}
}

// pause waits between retries, longer with each attempt. The wait is random, from half to
// the whole of the attempt's limit, so that two colliding callers do not collide again.
func pause(ctx context.Context, attempt int) error {
	longest := firstPause << (attempt - 1)
	timer := time.NewTimer(longest/2 + rand.N(longest/2)) //nolint:gosec // chance, not a secret
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}
