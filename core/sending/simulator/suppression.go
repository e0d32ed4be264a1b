package simulator

import (
	"context"
	"database/sql"
	"errors"
	"math"
	"time"

	"github.com/mailhelm/mailhelm/core/sending"
)

// The query ignores entries of bounces and complaints that have not happened yet.
const selectSuppressed = `SELECT email, reason, at FROM suppressed WHERE org_id = $1 AND email_key = $2 AND at <= $3`

// FindSuppressed returns one entry of the account's list. It fails with NotFound when the
// address is not on it.
func (s *Simulator) FindSuppressed(ctx context.Context, orgID, email string) (sending.Suppressed, error) {
	var found sending.Suppressed
	err := s.pointRead(ctx, MethodSuppressed, func(ctx context.Context) error {
		var err error
		found, err = readSuppressed(ctx, s.selectSuppressed, orgID, email, s.clock())
		if errors.Is(err, sql.ErrNoRows) {
			return s.missing(ctx, orgID, "the address is not on the suppression list")
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

// missing returns the error for a missing object: NotFound, or NotConnected without an
// account.
func (s *Simulator) missing(ctx context.Context, orgID, text string) error {
	if _, err := readOverview(ctx, s.selectAccount, orgID, s.clock()); err != nil {
		return err
	}
	return notFoundError(text)
}

const selectSuppressedPage = `
SELECT id, email, reason, at FROM suppressed
WHERE org_id = $1 AND id > $2 AND at >= $3 AND at < $4 ORDER BY id LIMIT $5`

// SuppressedPage returns a page of the account's list, in the order of creation. The
// window includes since and excludes until. An address that is listed during the whole
// iteration appears exactly once. It fails with Invalid for a token of another listing.
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

// microsOr returns the stored form of a time, or open for the zero time.
func microsOr(t time.Time, open int64) int64 {
	if t.IsZero() {
		return open
	}
	return t.UnixMicro()
}

// An existing entry keeps its first reason and time.
const insertSuppressed = `
INSERT INTO suppressed (org_id, email_key, email, reason, at) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (org_id, email_key) DO NOTHING`

func (w *change) insertSuppressed(entry sending.Suppressed, now time.Time) {
	switch {
	case w.err != nil:
		return
	case !isAddress(entry.Email):
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
