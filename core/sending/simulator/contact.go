package simulator

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/mailhelm/mailhelm/core/sending"
)

const selectContact = `
SELECT email, unsubscribe_all, preferences, updated_at FROM contacts WHERE org_id = $1 AND email_key = $2`

// Contact returns the consent of the contact with this address. It fails with NotFound if
// the contact list does not have the address.
func (s *Simulator) Contact(ctx context.Context, orgID, email string) (sending.Contact, error) {
	var c sending.Contact
	err := s.pointRead(ctx, MethodContact, func(ctx context.Context) error {
		var preferences string
		var updatedAt int64
		err := s.selectContact.QueryRowContext(ctx, orgID, emailKey(email)).
			Scan(&c.Email, &c.UnsubscribeAll, &preferences, &updatedAt)
		if errors.Is(err, sql.ErrNoRows) {
			return s.noContact(ctx, orgID)
		}
		c.Preferences, c.UpdatedAt = sending.DecodePreferences(preferences), timeOf(updatedAt)
		return err
	})
	if err != nil {
		return sending.Contact{}, err
	}
	return c, nil
}

// noContact returns the error for a contact that was not found: NotConnected if the
// organization has no account, else NotFound. It reads the account and its contact list to
// decide.
func (s *Simulator) noContact(ctx context.Context, orgID string) error {
	if _, err := readList(ctx, s.selectList, orgID); err != nil {
		return err
	}
	return notFoundError("the address is not on the contact list")
}

// putContact inserts or updates a contact. If the stored consent is equal, its WHERE clause
// prevents any change, also of updated_at. An update keeps the first spelling of the
// address.
const putContact = `
INSERT INTO contacts (org_id, email_key, email, unsubscribe_all, preferences, updated_at)
VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (org_id, email_key) DO UPDATE SET
	unsubscribe_all = excluded.unsubscribe_all, preferences = excluded.preferences, updated_at = excluded.updated_at
WHERE unsubscribe_all <> excluded.unsubscribe_all OR preferences <> excluded.preferences`

// PutContact creates the contact or replaces its consent, and stores the time of the
// change. A contact that has this consent already is not changed. It fails with Invalid for
// an unknown topic, an unknown choice or a malformed address, and with NotFound without a
// contact list.
func (s *Simulator) PutContact(ctx context.Context, orgID string, c sending.Contact) error {
	return s.call(ctx, MethodPutContact, func(ctx context.Context) error {
		return inTx(ctx, s.file.writer, func(tx *sql.Tx) error {
			known, err := s.topicNames(ctx, tx, orgID)
			if err != nil {
				return err
			}
			if err := sending.CheckListed(c, known); err != nil {
				return err
			}
			return storeContact(ctx, tx.StmtContext(ctx, s.putContact), orgID, c, s.clock())
		})
	})
}

// storeContact runs the prepared statement putContact or insertContact, which have the same
// parameters.
func storeContact(ctx context.Context, stmt *sql.Stmt, orgID string, c sending.Contact, at time.Time) error {
	_, err := stmt.ExecContext(ctx, orgID, emailKey(c.Email), c.Email, c.UnsubscribeAll,
		sending.EncodePreferences(c.Preferences), at.UnixMicro())
	return err
}

// Attributes returns the customer's own data about a contact (AttributesData at SES). It
// returns "" if there is no data or no such contact. The type sending.Contact has no field
// for this data.
func (s *Simulator) Attributes(ctx context.Context, orgID, email string) (string, error) {
	var data string
	err := s.file.reader.QueryRowContext(ctx, `SELECT attributes_data FROM contacts WHERE org_id = $1 AND email_key = $2`,
		orgID, emailKey(email)).Scan(&data)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return data, failureOf(err)
}

// PutAttributes replaces the customer's own data about a contact. It has no effect if the
// contact does not exist.
func (s *Simulator) PutAttributes(ctx context.Context, orgID, email, data string) error {
	return failureOf(s.write(ctx, orgID, func(w *change) {
		w.exec(`UPDATE contacts SET attributes_data = $3 WHERE org_id = $1 AND email_key = $2`, orgID, emailKey(email), data)
	}))
}

const deleteContact = `DELETE FROM contacts WHERE org_id = $1 AND email_key = $2`

// DeleteContact removes an address from the contact list. It succeeds if the list does not
// have the address.
func (s *Simulator) DeleteContact(ctx context.Context, orgID, email string) error {
	return s.call(ctx, MethodDeleteContact, func(ctx context.Context) error {
		return inTx(ctx, s.file.writer, func(tx *sql.Tx) error {
			deleted, err := tx.StmtContext(ctx, s.deleteContact).ExecContext(ctx, orgID, emailKey(email)) //nolint:sqlclosecheck // closed with the transaction
			if err != nil {
				return err
			}
			if n, err := deleted.RowsAffected(); n > 0 || err != nil {
				return err
			}
			_, err = readList(ctx, tx.StmtContext(ctx, s.listInTx), orgID)
			if sending.IsNotFound(err) {
				return nil
			}
			return err
		})
	})
}

// emailKey returns the lower-case form of an address, by which contacts are unique.
func emailKey(email string) string { return sending.ContactKey(email) }
