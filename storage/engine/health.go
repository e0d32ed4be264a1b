package engine

import (
	"context"
	"errors"
	"strings"

	"github.com/mailhelm/mailhelm/core"
)

// The probe writes probeRows rows of probeSize characters and removes them again. That is
// more than the free space in used pages of a full disk. No other transaction sees the
// rows.
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

// Check returns why the database refuses calls, or nil if it accepts them. It reads.
// After a write failed with an outage, such as a full disk, it also writes, at each call
// until one such write succeeds. [Cause] describes the error for the operator.
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
	if err == nil { // a smaller write proves nothing: it may have fit into a used page
		db.outage.CompareAndSwap(why, nil)
	}
	return err
}

// Cause returns why the database refuses calls, for the operator. The text contains no
// secret, but callers must not see it.
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
