package simulator

import (
	"context"
	"database/sql"
	"iter"

	"github.com/mailhelm/mailhelm/core/sending"
)

// selectListOwners reads the organizations with a contact list, of all organizations.
const selectListOwners = `SELECT org_id FROM contact_lists ORDER BY org_id`

// ListOwners returns the ids of all organizations whose account has a contact list.
func (s *Simulator) ListOwners(ctx context.Context) ([]string, error) {
	rows, err := s.file.reader.QueryContext(ctx, selectListOwners)
	if err != nil {
		return nil, failureOf(err)
	}
	defer func() { _ = rows.Close() }() // rows.Err reports the errors
	var owners []string
	for rows.Next() {
		var orgID string
		if err := rows.Scan(&orgID); err != nil {
			return nil, failureOf(err)
		}
		owners = append(owners, orgID)
	}
	return owners, failureOf(rows.Err())
}

// HandedOver is a contact list that leaves the account of an organization.
type HandedOver struct {
	sending.ContactList
	// Contacts returns the contacts in pages of at most 1,000. It may be called several times.
	Contacts func() iter.Seq2[[]sending.Contact, error]
}

// HandOver calls take with the contact list of an organization, and deletes the list with its
// topics and contacts from the file after take has returned nil. No other process can change
// the file until then. If the process ends before the deletion, the list is still complete, and
// another HandOver calls take with the same list. Without a list it does nothing.
//
// It has no deadline of its own, and faults do not affect it.
func (s *Simulator) HandOver(ctx context.Context, orgID string, take func(context.Context, HandedOver) error) error {
	if _, err := readList(ctx, s.selectList, orgID); err != nil {
		return unlessAbsent(err)
	}
	err := inTx(ctx, s.file.writer, func(tx *sql.Tx) error {
		list, err := readList(ctx, tx.StmtContext(ctx, s.listInTx), orgID)
		if err == nil {
			list.Topics, err = readTopics(ctx, tx.StmtContext(ctx, s.topicsInTx), orgID)
		}
		if err != nil {
			return err
		}
		if err := take(ctx, HandedOver{list, func() iter.Seq2[[]sending.Contact, error] { return contactPages(ctx, tx, orgID) }}); err != nil {
			return err
		}
		w := &change{ctx: ctx, tx: tx, orgID: orgID}
		for _, table := range []string{"contacts", "topics", "contact_lists"} {
			w.exec(`DELETE FROM `+table+` WHERE org_id = $1`, orgID)
		}
		return w.err
	})
	if err != nil {
		return unlessAbsent(err)
	}
	// The write-ahead log still has the deleted content.
	_, err = s.file.writer.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
	return failureOf(err)
}

// unlessAbsent returns nil if err means that there is no list or no account, else the failure.
func unlessAbsent(err error) error {
	if sending.IsAbsent(err) {
		return nil
	}
	return failureOf(err)
}

// contactPages reads the contacts of an organization in a transaction, in pages. It ends after
// the first error.
func contactPages(ctx context.Context, tx *sql.Tx, orgID string) iter.Seq2[[]sending.Contact, error] {
	return func(yield func([]sending.Contact, error) bool) {
		last := int64(0)
		for {
			page, after, err := contactsAfter(ctx, tx, orgID, last)
			if err != nil {
				yield(nil, err)
				return
			}
			if last = after; len(page) > 0 && !yield(page, nil) || len(page) < maxPageSize {
				return
			}
		}
	}
}

// contactsAfter reads a page of the contacts whose ids are greater than after, and the id of the
// last one.
func contactsAfter(ctx context.Context, tx *sql.Tx, orgID string, after int64) ([]sending.Contact, int64, error) {
	rows, err := tx.QueryContext(ctx, selectContacts, orgID, after, maxPageSize)
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = rows.Close() }() // rows.Err reports the errors
	page := make([]sending.Contact, 0, maxPageSize)
	for rows.Next() {
		var c sending.Contact
		var preferences string
		var updatedAt int64
		if err := rows.Scan(&after, &c.Email, &c.UnsubscribeAll, &preferences, &updatedAt); err != nil {
			return nil, 0, err
		}
		c.Preferences, c.UpdatedAt = sending.DecodePreferences(preferences), timeOf(updatedAt)
		page = append(page, c)
	}
	return page, after, rows.Err()
}
