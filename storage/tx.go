package storage

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

const (
	maxAttempts = 6
	firstPause  = 5 * time.Millisecond
)

type transactionKey struct{}

// transaction is what travels in a context. It names its database, because a
// context may pass from one database to another.
type transaction struct {
	db *DB
	tx *sql.Tx
	// registries are those that were read in the transaction; see audienceStore.registry.
	registries map[string]*registry
	// preferences are the topic preferences, as stored, of contacts that were read and so
	// locked in the transaction, until others are written.
	preferences map[string]string
}

// transaction is the one that ctx carries for this database, or nil.
func (db *DB) transaction(ctx context.Context) *transaction {
	if t, ok := ctx.Value(transactionKey{}).(*transaction); ok && t.db == db {
		return t
	}
	return nil
}

// InTx runs f inside one transaction; see [core.Transactor]. Inside another it
// joins that one, and what f did is undone with the outer transaction, not by
// f's error alone. PostgreSQL runs it at read committed.
func (db *DB) InTx(ctx context.Context, f func(ctx context.Context) error) error {
	if db.transaction(ctx) != nil {
		return f(ctx)
	}
	if err := db.write.prepare(ctx); err != nil {
		return err
	}
	return db.retry(ctx, func() error { return db.once(ctx, f) })
}

func (db *DB) once(ctx context.Context, f func(ctx context.Context) error) error {
	tx, err := db.write.sql.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("storage: begin: %w", cause(ctx, err))
	}
	// After a commit this does nothing; otherwise, panics included, it undoes all.
	defer func() { _ = tx.Rollback() }()
	if err := f(context.WithValue(ctx, transactionKey{}, &transaction{db: db, tx: tx})); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("storage: commit: %w", cause(ctx, err))
	}
	return nil
}

// retry runs f again while PostgreSQL says that a concurrent transaction stood
// in its way. Inside a transaction f runs once: the whole transaction has to be
// repeated, which is the business of the outermost call.
func (db *DB) retry(ctx context.Context, f func() error) error {
	if db.engine == sqlite || db.transaction(ctx) != nil {
		return f()
	}
	for attempt := 1; ; attempt++ {
		err := f()
		if err == nil || attempt == maxAttempts || !retryable(err) {
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
