package simulator

import (
	"context"
	"database/sql"

	"github.com/mailhelm/mailhelm/core/sending"
)

// selectContacts reads a page of an organization's contacts. The plus before the parameter
// of LIMIT, here and in other statements of this package, does not change its value.
// Without the plus, SQLite would compile the statement again at each execution.
const selectContacts = `
SELECT id, email, unsubscribe_all, preferences, updated_at FROM contacts
WHERE org_id = $1 AND id > $2 ORDER BY id LIMIT +$3`

// Contacts returns a page of at most 1,000 contacts, in the order of their creation, and
// the token of the next page. A contact that exists during the whole iteration appears
// exactly once, even if others are added or deleted in between. It fails with Invalid for a
// malformed token or a token of another organization.
func (s *Simulator) Contacts(ctx context.Context, orgID, token string) ([]sending.Contact, string, error) {
	var page []sending.Contact
	var next string
	err := s.call(ctx, MethodContacts, func(ctx context.Context) error {
		after, err := sending.DecodePageToken(orgID, token)
		if err != nil {
			return err
		}
		if _, err := readList(ctx, s.selectList, orgID); err != nil {
			return err
		}
		var last int64
		page, last, err = s.readPage(ctx, orgID, after)
		if last != 0 {
			next = sending.EncodePageToken(orgID, last)
		}
		return err
	})
	if err != nil {
		return nil, "", err
	}
	return page, next, nil
}

// readPage returns a page of the contacts whose ids are greater than the id in after. The
// second result is the id of the page's last contact if another page follows, else 0.
func (s *Simulator) readPage(ctx context.Context, orgID string, after int64) ([]sending.Contact, int64, error) {
	page := make([]sending.Contact, 0, s.pageSize)
	last, more := int64(0), false
	err := eachRow(ctx, s.selectContacts, func(rows *sql.Rows) error {
		if len(page) == s.pageSize {
			more = true
			return nil
		}
		var c sending.Contact
		var preferences string
		var updatedAt int64
		err := rows.Scan(&last, &c.Email, &c.UnsubscribeAll, &preferences, &updatedAt)
		c.Preferences, c.UpdatedAt = sending.DecodePreferences(preferences), timeOf(updatedAt)
		page = append(page, c)
		return err
	}, orgID, after, s.pageSize+1)
	if !more {
		last = 0
	}
	return page, last, err
}
