package partitions

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/lib/pq"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// The error codes of PostgreSQL that this package handles.
const (
	checkViolation   = "23514"
	lockNotAvailable = "55P03"
)

// lockWait is how long a step waits for a lock of a table. Reads and writes that come later
// wait behind it. It is longer than deadlock_timeout, because only then PostgreSQL ends an
// automatic vacuum that has the lock.
const lockWait = "2s"

// stepLock is the number of the advisory lock that keeps two processes from changing partitions
// at once. The number is arbitrary.
const stepLock = 5_120_873

// ErrBusy is the error of a step that got a lock not in time. It has changed nothing and can be
// repeated.
var ErrBusy = errors.New("a table or the step is locked by another connection")

// transaction is an open transaction.
type transaction interface {
	exec(ctx context.Context, text string) error
	// rows returns two columns of text.
	rows(ctx context.Context, query string, args ...any) ([][2]string, error)
	commit() error
	rollback()
}

// opener opens transactions.
type opener interface {
	open(ctx context.Context) (transaction, error)
	// alone runs a statement that no transaction can have and that may take long. No other process
	// makes a step at the same time; otherwise alone returns [ErrBusy].
	alone(ctx context.Context, text string) error
}

// database is an opener.
type database struct{ *engine.DB }

func (d database) open(ctx context.Context) (transaction, error) {
	tx, err := d.Writer().BeginTx(ctx, nil)
	return open{tx}, err
}

func (d database) alone(ctx context.Context, text string) error {
	return d.InSession(ctx, func(ctx context.Context, conn *sql.Conn) error {
		var got bool
		if err := conn.QueryRowContext(ctx, "SELECT pg_try_advisory_lock($1)", stepLock).Scan(&got); err != nil {
			return err
		}
		if !got {
			return ErrBusy
		}
		for _, t := range []string{"SET statement_timeout = 0", text} {
			if _, err := conn.ExecContext(ctx, t); err != nil {
				return fmt.Errorf("%s: %w", t, err)
			}
		}
		return nil
	})
}

// open is a transaction of a database.
type open struct{ *sql.Tx }

func (o open) exec(ctx context.Context, text string) error {
	_, err := o.ExecContext(ctx, text)
	return err
}

func (o open) rows(ctx context.Context, query string, args ...any) ([][2]string, error) {
	found, err := o.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = found.Close() }() // found.Err reports the errors
	var all [][2]string
	for found.Next() {
		var row [2]string
		if err := found.Scan(&row[0], &row[1]); err != nil {
			return nil, err
		}
		all = append(all, row)
	}
	return all, found.Err()
}

func (o open) commit() error { return o.Commit() }

func (o open) rollback() { _ = o.Rollback() } // an error means that it has ended

// do runs f in a transaction. With locks, no other process is in such a transaction, and f waits
// at most lockWait for each lock. do returns [ErrBusy] if it gets a lock not in time.
func do(ctx context.Context, from opener, locks bool, f func(transaction) error) error {
	tx, err := from.open(ctx)
	if err != nil {
		return err
	}
	defer tx.rollback()
	if locks {
		if err := begin(ctx, tx); err != nil {
			return err
		}
	}
	if err := f(tx); err != nil {
		if hasCode(err, lockNotAvailable) {
			return fmt.Errorf("%w: %w", ErrBusy, err)
		}
		return err
	}
	return tx.commit()
}

// begin sets the limits of a transaction and gets the lock of the step.
func begin(ctx context.Context, tx transaction) error {
	if err := tx.exec(ctx, "SET LOCAL lock_timeout = '"+lockWait+"'; SET LOCAL statement_timeout = 0"); err != nil {
		return err
	}
	got, err := tx.rows(ctx, fmt.Sprintf("SELECT CAST(pg_try_advisory_xact_lock(%d) AS text), ''", stepLock))
	if err != nil {
		return err
	}
	if got[0][0] != "true" {
		return ErrBusy
	}
	return nil
}

// all runs statements one after the other.
func all(ctx context.Context, tx transaction, statements ...string) error {
	for _, text := range statements {
		if err := tx.exec(ctx, text); err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
	}
	return nil
}

// hasCode reports whether an error has a code of PostgreSQL.
func hasCode(err error, code string) bool {
	e, ok := errors.AsType[*pq.Error](err)
	return ok && string(e.Code) == code
}
