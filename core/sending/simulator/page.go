package simulator

import (
	"context"
	"database/sql"
)

// listing is a list and the position of the iteration over it.
type listing struct{ orgID, name, token string }

// scope returns the text that binds a page token to its listing.
func (l listing) scope() string { return l.name + " " + l.orgID }

// page runs a statement with these arguments: the organization, the id to start after,
// those in more, and the limit. take scans a row and returns its id. The limit is one
// row more than a page holds, to detect whether another page follows. That row is not
// passed to take.
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
