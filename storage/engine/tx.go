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

// transaction is what travels in a context. It names its database, because a
// context may pass from one database to another.
type transaction struct {
	db   *DB
	pool *pool
	tx   *sql.Tx
	// wrote is set by the first statement that writes.
	wrote bool
	// kept are the values of rooms; see TxMemory.
	kept map[any]any
}

// transaction is the one that ctx carries for this database, or nil.
func (db *DB) transaction(ctx context.Context) *transaction {
	if t, ok := ctx.Value(transactionKey{}).(*transaction); ok && t.db == db {
		return t
	}
	return nil
}

// InTransaction reports whether ctx carries a transaction of this database.
func (db *DB) InTransaction(ctx context.Context) bool { return db.transaction(ctx) != nil }

// InTx runs f inside one transaction; see [core.Transactor]. Inside another it
// joins that one, and what f did is undone with the outer transaction, not by
// f's error alone. PostgreSQL runs it at read committed, or at repeatable read for
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
	if err := p.prepare(ctx); err != nil {
		return unbegun{db.cause(ctx, err)}
	}
	tx, err := p.sql.BeginTx(ctx, db.isolation(ctx))
	if err != nil {
		return unbegun{fmt.Errorf("storage: begin: %w", db.cause(ctx, err))}
	}
	// After a commit this does nothing; otherwise, panics included, it undoes all.
	defer func() { _ = tx.Rollback() }()
	t := &transaction{db: db, pool: p, tx: tx}
	if err := f(context.WithValue(ctx, transactionKey{}, t)); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("storage: commit: %w", db.cause(ctx, err))
	}
	if t.wrote {
		db.outage.Store(nil)
	}
	return nil
}

// unbegun is a failure that came before anything could be changed, so that the call may
// run again.
type unbegun struct{ error }

func (u unbegun) Unwrap() error { return u.error }

// isolation is what a transaction asks the engine for. On SQLite a transaction that
// writes excludes all others.
func (db *DB) isolation(ctx context.Context) *sql.TxOptions {
	if db.dialect == SQLite || !core.WantsSnapshot(ctx) {
		return nil
	}
	return &sql.TxOptions{Isolation: sql.LevelRepeatableRead}
}

// Retry runs f again while PostgreSQL says that a concurrent transaction stood
// in its way, and once when the connection had broken off before f changed anything:
// after a restart of the database all old connections have. Inside a transaction f runs
// once: the whole transaction has to be repeated, which is the business of the outermost
// call.
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

// pause waits longer with each attempt, by chance within half to the whole of
// the time, so that two that collided do not collide again.
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
