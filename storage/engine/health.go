package engine

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// The test write of Check inserts 64 rows of more than 1,000 characters, and deletes them
// in the same transaction. The free space in used pages is too small for these rows. So the
// write needs new pages, and fails if the disk is full.
const (
	probeRows = 64
	probeSize = 1000
)

var (
	insertProbe = Register("insert probe", `
		INSERT INTO processes (id, beat_at) SELECT j.atom, CAST(0 AS bigint) FROM json_each(CAST($1 AS text)) AS j WHERE TRUE`)
	deleteProbe = Register("delete probe", `
		DELETE FROM processes WHERE id IN (SELECT j.atom FROM json_each(CAST($1 AS text)) AS j)`)
)

// Check returns nil if the database accepts calls, or else the error. It always reads. Once
// a read or write has failed because the database refused all calls, for example with a
// full disk, Check also writes. It does so until one of its writes succeeds. [Cause]
// returns the reason for the operator.
func (db *DB) Check(ctx context.Context) error {
	why := db.outage.Load()
	if err := db.Ping(ctx); err != nil || why == nil {
		return err
	}
	ids := make([]string, probeRows)
	for i := range ids {
		ids[i] = "probe " + core.NewID() + strings.Repeat(" ", probeSize)
	}
	rows, err := JSONParameter(ids)
	if err != nil {
		return err
	}
	err = db.InTx(ctx, func(ctx context.Context) error {
		if _, err := db.Exec(ctx, insertProbe, rows); err != nil {
			return err
		}
		_, err := db.Exec(ctx, deleteProbe, rows)
		return err
	})
	// Only a write as large as this one proves that the disk has space. A smaller write may
	// fit into the free space of a used page.
	if err == nil {
		db.outage.CompareAndSwap(why, nil)
	}
	return err
}

// ServerTime returns the time of the clock of the database server. It returns false for SQLite,
// which has the clock of this process.
func (db *DB) ServerTime(ctx context.Context) (at time.Time, has bool, err error) {
	if db.dialect == SQLite {
		return time.Time{}, false, nil
	}
	err = db.read.sql.QueryRowContext(ctx, "SELECT clock_timestamp()").Scan(&at)
	return at, err == nil, db.cause(ctx, err)
}

// Cause returns the reason in err for which the database refuses calls, in words for the
// operator. The text contains no secret, but must not be shown to API callers.
func Cause(err error) string {
	if err == nil {
		return ""
	}
	if e, ok := errors.AsType[*core.Error](err); ok && e.Err != nil {
		err = e.Err
	}
	why := outageOf(err)
	switch {
	case why != "":
		return why + ": " + err.Error()
	case errors.Is(err, context.DeadlineExceeded):
		return "the database does not answer in time"
	}
	return err.Error()
}
