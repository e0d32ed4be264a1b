package simulator

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"

	"github.com/mailhelm/mailhelm/core/sending"
)

// chunk is the number of contacts that Seed stores in one transaction. Between the
// transactions, other writers can write.
const chunk = 5000

// PutContacts stores the contacts in one transaction. A contact that fails with Invalid
// does not affect the others. After any other failure no contact is stored.
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
				if refused, ok := errors.AsType[*sending.Failure](sending.CheckListed(c, known)); ok {
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
