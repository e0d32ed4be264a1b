package simulator

import (
	"context"
	"database/sql"
)

// change is a write transaction on an organization's account. err is the first error of a
// statement; further statements are then skipped.
type change struct {
	ctx   context.Context //nolint:containedctx // lives as long as the transaction
	tx    *sql.Tx
	orgID string
	err   error
}

// exec runs a statement and returns the number of changed rows. It returns 0 after an
// error.
func (w *change) exec(text string, args ...any) int64 {
	if w.err != nil {
		return 0
	}
	result, err := w.tx.ExecContext(w.ctx, text, args...)
	if err != nil {
		w.err = err
		return 0
	}
	changed, err := result.RowsAffected()
	w.err = err
	return changed
}

// write runs do in a write transaction of the simulator's file. do changes the simulated
// account of the organization. write fails with NotConnected if the organization has no
// account.
func (s *Simulator) write(ctx context.Context, orgID string, do func(w *change)) error {
	return inTx(ctx, s.file.writer, func(tx *sql.Tx) error {
		if _, err := readAccount(ctx, tx.StmtContext(ctx, s.accountInTx), orgID); err != nil {
			return err
		}
		w := &change{ctx: ctx, tx: tx, orgID: orgID}
		do(w)
		return w.err
	})
}
