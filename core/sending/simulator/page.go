package simulator

import (
	"context"
	"database/sql"

	"github.com/mailhelm/mailhelm/core/sending"
)

// listing names a paged list, such as the templates of an organization, and the token of
// the page to read.
type listing struct{ orgID, name, token string }

// scope returns a text that identifies the list and its organization. A page token contains
// a digest of this text, so that the token is valid for this list only.
func (l listing) scope() string { return l.name + " " + l.orgID }

// page reads a page of a list and returns the token of the next page, or "". The arguments
// of stmt are, in this order: the organization, the id after which the page starts, the
// values of more, and the maximum number of rows. take scans a row and returns its id. The
// statement reads one row more than a page has, to detect a next page; take does not get
// that row.
func (s *Simulator) page(ctx context.Context, stmt *sql.Stmt, l listing, take func(*sql.Rows) (int64, error), more ...any) (string, error) {
	after, err := sending.DecodePageToken(l.scope(), l.token)
	if err != nil {
		return "", err
	}
	if _, err := readAccount(ctx, s.selectAccount, l.orgID); err != nil {
		return "", err
	}
	args := append([]any{l.orgID, after}, more...)
	taken, last, next := 0, int64(0), ""
	err = eachRow(ctx, stmt, func(rows *sql.Rows) error {
		if taken == s.pageSize {
			next = sending.EncodePageToken(l.scope(), last)
			return nil
		}
		taken++
		var err error
		last, err = take(rows)
		return err
	}, append(args, s.pageSize+1)...)
	return next, err
}
