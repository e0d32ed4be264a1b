package simulator

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"

	"github.com/mailhelm/mailhelm/core/sending"
)

const selectContacts = `
SELECT id, email, unsubscribe_all, preferences, updated_at FROM contacts
WHERE org_id = $1 AND id > $2 ORDER BY id LIMIT $3`

// Contacts returns a page of at most 1,000 contacts, in the order of their creation. A
// contact that exists during the whole iteration appears exactly once, whatever is
// added or deleted in between. It fails with Invalid for a token of another
// organization or a malformed one.
func (s *Simulator) Contacts(ctx context.Context, orgID, token string) ([]sending.Contact, string, error) {
	var page []sending.Contact
	var next string
	err := s.call(ctx, MethodContacts, func(ctx context.Context) error {
		after, err := decodePageToken(orgID, token)
		if err != nil {
			return err
		}
		if _, err := readList(ctx, s.selectList, orgID); err != nil {
			return err
		}
		var last int64
		page, last, err = s.readPage(ctx, orgID, after)
		if last != 0 {
			next = encodePageToken(orgID, last)
		}
		return err
	})
	if err != nil {
		return nil, "", err
	}
	return page, next, nil
}

// readPage reads one contact more than the page holds, to detect whether another page
// follows. If so, it returns the id of the page's last contact, else 0.
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
		c.Preferences, c.UpdatedAt = decodePreferences(preferences), timeOf(updatedAt)
		page = append(page, c)
		return err
	}, orgID, after, s.pageSize+1)
	if !more {
		last = 0
	}
	return page, last, err
}

// chunk is the number of contacts stored per transaction. Between transactions of a
// large import, other writers can proceed.
const chunk = 5000

// PutContacts stores the contacts in one transaction. An Invalid contact does not
// affect the others. After any other failure no contact is stored.
func (s *Simulator) PutContacts(ctx context.Context, orgID string, contacts []sending.Contact) ([]*sending.Failure, error) {
	if err := sending.CheckContacts(contacts); err != nil {
		return nil, err
	}
	outcomes := make([]*sending.Failure, len(contacts))
	err := s.call(ctx, MethodPutContacts, func(ctx context.Context) error {
		return inTx(ctx, s.file.writer, func(tx *sql.Tx) error {
			known, err := s.topicNames(ctx, tx, orgID)
			if err != nil {
				return err
			}
			put, now := tx.StmtContext(ctx, s.putContact), s.clock()
			for i, c := range contacts {
				if refused, ok := errors.AsType[*sending.Failure](checkContact(c, known)); ok {
					outcomes[i] = refused
				} else if err := storeContact(ctx, put, orgID, c, now); err != nil {
					return err
				}
			}
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	return outcomes, nil
}

func (s *Simulator) storeContacts(ctx context.Context, stmt *sql.Stmt, orgID string, contacts []sending.Contact, date func(sending.Contact) time.Time) error {
	unchecked := contacts
	for part := range slices.Chunk(contacts, chunk) {
		err := inTx(ctx, s.file.writer, func(tx *sql.Tx) error {
			known, err := s.topicNames(ctx, tx, orgID)
			if err != nil {
				return err
			}
			if err := checkContacts(unchecked, known); err != nil {
				return err
			}
			unchecked = nil
			stmt := tx.StmtContext(ctx, stmt)
			for _, c := range part {
				if err := storeContact(ctx, stmt, orgID, c, date(c)); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
