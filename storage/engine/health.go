package engine

import (
	"context"
	"errors"
	"strings"

	"github.com/mailhelm/mailhelm/core"
)

// A probe writes so many rows of so many characters, more than what a full disk leaves
// in pages that are in use, and removes them again. No other transaction sees them.
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

// Check returns why the database takes no calls, nil when it does. It reads; and once a
// write has failed for a reason of the database's own, such as a full disk, it also
// writes, until that succeeds. [Cause] puts the error into words for the operator.
func (db *DB) Check(ctx context.Context) error {
	if err := db.Ping(ctx); err != nil || db.outage.Load() == nil {
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
	return db.InTx(ctx, func(ctx context.Context) error {
		if _, err := db.Exec(ctx, insertProbe, rows); err != nil {
			return err
		}
		_, err := db.Exec(ctx, deleteProbe, rows)
		return err
	})
}

// Cause is why the database takes no calls, in words for the operator: callers must not
// see it. It holds no secret.
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
