package engine

import (
	"cmp"
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

// transaction is the open transaction of a context. It has a reference to its database,
// because one context may be used with several databases.
type transaction struct {
	db   *DB
	pool *pool
	tx   *sql.Tx
	// kept has the value of each TxMemory. The key is the address of the TxMemory.
	kept map[any]any
	// noted has the statements that the pool prepares after the transaction has ended. The
	// value of a statement that the transaction uses again is its prepared form, which is
	// closed at the end of the transaction. The other values are nil.
	noted map[*Statement]*sql.Stmt
	// waiting has the writes that run together before the transaction commits; see [DB.Later].
	waiting []waitingWrite
	// savepoints is true if [DB.Attempt] sets savepoints.
	savepoints bool
	// failed is the failure of an attempt without a savepoint.
	failed error
}

// transaction returns the open transaction of this database from ctx, or nil if ctx has
// none.
func (db *DB) transaction(ctx context.Context) *transaction {
	if t, ok := ctx.Value(transactionKey{}).(*transaction); ok && t.db == db {
		return t
	}
	return nil
}

// InTransaction reports whether ctx carries an open transaction of this database.
func (db *DB) InTransaction(ctx context.Context) bool { return db.transaction(ctx) != nil }

// LockedInside returns the statement with which to read a row. Inside a transaction it
// returns the statement lock, so that the row cannot change before a write. Outside a
// transaction it returns the statement read.
func (db *DB) LockedInside(ctx context.Context, read, lock *Statement) *Statement {
	if !db.InTransaction(ctx) {
		return read
	}
	return lock
}

// InTx runs f in one transaction; see [core.Transactor]. If ctx carries a transaction, f
// becomes a part of that transaction. An error of f then undoes nothing, unless the whole
// transaction is rolled back. PostgreSQL uses the isolation level read committed, or
// repeatable read for [core.Snapshot].
func (db *DB) InTx(ctx context.Context, f func(ctx context.Context) error) error {
	if db.transaction(ctx) != nil {
		return f(ctx)
	}
	savepoints := false
	return db.Retry(ctx, func() error {
		err := db.once(ctx, savepoints, f)
		savepoints = true
		return err
	})
}

// once runs f in one transaction, once. savepoints says whether [DB.Attempt] sets savepoints.
func (db *DB) once(ctx context.Context, savepoints bool, f func(ctx context.Context) error) error {
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
	t := &transaction{db: db, pool: p, tx: tx, savepoints: savepoints}
	defer t.prepareNoted(ctx)
	// Rollback does nothing after a commit. Otherwise, even after a panic, it rolls back the
	// transaction.
	defer func() { _ = tx.Rollback() }()
	inside := context.WithValue(ctx, transactionKey{}, t)
	err = f(inside)
	if err = cmp.Or(t.failed, err); err != nil {
		return err
	}
	if _, err = db.runWaiting(inside, t); err != nil {
		return err
	}
	err = tx.Commit()
	db.wrote(ctx)
	if err = cmp.Or(err, db.unsure(ctx)); err != nil {
		return fmt.Errorf("storage: commit: %w", db.cause(ctx, err))
	}
	return nil
}

// unsure returns an error if the context of a commit that succeeded has ended. The driver then
// cancels it on PostgreSQL, which ends the wait for a synchronous standby and reports success. The
// write would be lost if the standby were promoted.
func (db *DB) unsure(ctx context.Context) error {
	if db.dialect == SQLite {
		return nil
	}
	return ctx.Err()
}

// prepareNoted prepares statements that the transaction ran and that had been used before.
// It runs after the end of the transaction, before the caller gives back its permission to
// use a connection (see pass). It ignores errors, because a statement that is not prepared
// is sent as text.
func (t *transaction) prepareNoted(ctx context.Context) {
	for s := range t.noted {
		if _, err := t.pool.prepare(ctx, s); err != nil { //nolint:sqlclosecheck // lives as long as the pool
			return
		}
	}
}

// unbegun wraps the error of a call that has changed nothing, so that the call may run
// again.
type unbegun struct{ error }

func (u unbegun) Unwrap() error { return u.error }

// isolation returns the options for a transaction with ctx. On SQLite it returns nil,
// because a transaction that writes excludes all others.
func (db *DB) isolation(ctx context.Context) *sql.TxOptions {
	if db.dialect == SQLite || !core.WantsSnapshot(ctx) {
		return nil
	}
	return &sql.TxOptions{Isolation: sql.LevelRepeatableRead}
}

// readOnly returns the options for a transaction that only reads, in one snapshot. Connections for
// reads on SQLite cannot write anyway, and each transaction is a snapshot there.
func (db *DB) readOnly() *sql.TxOptions {
	if db.dialect == SQLite {
		return nil
	}
	return &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true}
}

// Retry runs f, and runs it again if it failed because of a concurrent transaction, up to
// maxAttempts times. It also repeats f once if the connection was lost before f changed
// anything, because a restart of the database closes all connections, or if the connection
// leads to a server that takes no writes. Inside a transaction f runs once: only the outermost
// call can repeat the transaction.
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
		case isReplicaFailure(err):
			continue // on the primary
		case isUnprotected(err):
			continue // with savepoints
		case retryable(err), isBusy(err) && core.LaneOf(ctx) == core.Background:
		case (unchanged && isLost(err) || isReadOnly(err)) && !renewed:
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

// isReplicaFailure reports whether a read of a replica failed.
func isReplicaFailure(err error) bool {
	_, failed := errors.AsType[replicaFailure](err)
	return failed
}

// pause waits between retries, longer with each attempt. The wait is random, from half the
// attempt's limit up to the limit, so that two callers do not conflict again.
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
