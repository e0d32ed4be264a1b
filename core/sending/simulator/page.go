package simulator

import (
	"context"
	"database/sql"
)

// listing is which list somebody pages through, and how far they are.
type listing struct{ orgID, name, token string }

// scope binds a page token to the listing that it was made for.
func (l listing) scope() string { return l.name + " " + l.orgID }

// page runs a statement whose arguments are the organization, the id to start
// behind, those in more, and the limit. take scans a row and returns its id. The
// statement is asked for one row more than a page has, to know whether another
// page follows; that row is not taken.
func (s *Simulator) page(ctx context.Context, stmt *sql.Stmt, l listing, take func(*sql.Rows) (int64, error), more ...any) (string, error) {
	after, err := decodePageToken(l.scope(), l.token)
	if err != nil {
		return "", err
	}
	if _, err := readOverview(ctx, s.selectAccount, l.orgID, s.clock()); err != nil {
		return "", err
	}
	args := append([]any{l.orgID, after}, more...)
	taken, last, next := 0, int64(0), ""
	err = eachRow(ctx, stmt, func(rows *sql.Rows) error {
		if taken == s.pageSize {
			next = encodePageToken(l.scope(), last)
			return nil
		}
		taken++
		var err error
		last, err = take(rows)
		return err
	}, append(args, s.pageSize+1)...)
	return next, err
}
