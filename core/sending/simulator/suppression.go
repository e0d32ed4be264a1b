package simulator

import (
	"context"
	"database/sql"
	"errors"
	"math"
	"time"

	"github.com/mailhelm/mailhelm/core/sending"
)

// selectSuppressed ignores entries whose bounce or complaint is still in the future.
const selectSuppressed = `SELECT email, reason, at FROM suppressed WHERE org_id = $1 AND email_key = $2 AND at <= $3`

// FindSuppressed returns the entry of an address in the account's suppression list. It
// fails with NotFound if the list does not have the address.
func (s *Simulator) FindSuppressed(ctx context.Context, orgID, email string) (sending.Suppressed, error) {
	var found sending.Suppressed
	err := s.pointRead(ctx, MethodSuppressed, func(ctx context.Context) error {
		var err error
		found, err = readSuppressed(ctx, s.selectSuppressed, orgID, email, s.clock())
		if errors.Is(err, sql.ErrNoRows) {
			return s.absenceError(ctx, orgID, "the address is not on the suppression list")
		}
		return err
	})
	if err != nil {
		return sending.Suppressed{}, err
	}
	return found, nil
}

func readSuppressed(ctx context.Context, stmt *sql.Stmt, orgID, email string, now time.Time) (sending.Suppressed, error) {
	var found sending.Suppressed
	var at int64
	err := stmt.QueryRowContext(ctx, orgID, emailKey(email), now.UnixMicro()).Scan(&found.Email, &found.Reason, &at)
	found.At = timeOf(at)
	return found, err
}

// absenceError returns the error for an object that was not found. The error is
// NotConnected if the organization has no account, and otherwise NotFound with the message
// in the parameter text.
func (s *Simulator) absenceError(ctx context.Context, orgID, text string) error {
	if _, err := readAccount(ctx, s.selectAccount, orgID); err != nil {
		return err
	}
	return notFoundError(text)
}

const selectSuppressedPage = `
SELECT id, email, reason, at FROM suppressed
WHERE org_id = $1 AND id > $2 AND at >= $3 AND at < $4 ORDER BY id LIMIT +$5`

// SuppressedPage returns a page of the account's suppression list, in the order of
// creation. The page has entries that were added at or after since and before until. An
// address that is on the list during the whole iteration appears exactly once.
// SuppressedPage fails with Invalid for a token of another list.
func (s *Simulator) SuppressedPage(ctx context.Context, orgID string, since, until time.Time, token string) ([]sending.Suppressed, string, error) {
	var page []sending.Suppressed
	var next string
	err := s.call(ctx, MethodSuppressedPage, func(ctx context.Context) error {
		var err error
		next, err = s.page(ctx, s.selectSuppressedPage, listing{orgID, "suppressed", token}, func(rows *sql.Rows) (int64, error) {
			var id, at int64
			var one sending.Suppressed
			err := rows.Scan(&id, &one.Email, &one.Reason, &at)
			one.At = timeOf(at)
			page = append(page, one)
			return id, err
		}, microsOr(since, math.MinInt64), min(microsOr(until, math.MaxInt64), s.clock().UnixMicro()+1))
		return err
	})
	if err != nil {
		return nil, "", err
	}
	return page, next, nil
}

// microsOr returns t in microseconds since 1970. If t is zero, it returns the parameter
// open.
func microsOr(t time.Time, open int64) int64 {
	if t.IsZero() {
		return open
	}
	return t.UnixMicro()
}

// insertSuppressed adds an address to the suppression list. If the list already has the
// address, its reason and time stay unchanged.
const insertSuppressed = `
INSERT INTO suppressed (org_id, email_key, email, reason, at) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (org_id, email_key) DO NOTHING`

func (w *change) insertSuppressed(entry sending.Suppressed, now time.Time) {
	switch {
	case w.err != nil:
		return
	case !sending.IsAddress(entry.Email):
		w.err = invalid("malformed address")
		return
	case entry.Reason != sending.SuppressedByBounce && entry.Reason != sending.SuppressedByComplaint:
		w.err = invalid("the account's list knows no other reasons than bounce and complaint")
		return
	}
	if entry.At.IsZero() {
		entry.At = now
	}
	w.exec(insertSuppressed, w.orgID, emailKey(entry.Email), entry.Email, string(entry.Reason), entry.At.UnixMicro())
}
