package simulator

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"

	"github.com/mailhelm/mailhelm/core/sending"
)

const selectList = `
SELECT l.name, l.description, l.updated_at
FROM accounts a LEFT JOIN contact_lists l ON l.org_id = a.org_id WHERE a.org_id = $1`

const selectTopics = `
SELECT name, display_name, description, default_to FROM topics WHERE org_id = $1 ORDER BY position`

// ContactList returns the account's contact list, with its topics in the order of their
// creation. It fails with NotFound if there is no list.
func (s *Simulator) ContactList(ctx context.Context, orgID string) (sending.ContactList, error) {
	var list sending.ContactList
	err := s.call(ctx, MethodContactList, func(ctx context.Context) error {
		var err error
		if list, err = readList(ctx, s.selectList, orgID); err != nil {
			return err
		}
		list.Topics, err = readTopics(ctx, s.selectTopics, orgID)
		return err
	})
	if err != nil {
		return sending.ContactList{}, err
	}
	return list, nil
}

// keepList creates a contact list. It does not change an existing one.
const keepList = `
INSERT INTO contact_lists (org_id, name, description, updated_at) VALUES ($1, $2, '', $3)
ON CONFLICT (org_id) DO NOTHING`

// EnsureContactList creates a contact list if the account has none.
func (s *Simulator) EnsureContactList(ctx context.Context, orgID string) error {
	return s.call(ctx, MethodEnsureContactList, func(ctx context.Context) error {
		return s.write(ctx, orgID, func(w *change) {
			w.exec(keepList, orgID, sending.DefaultContactList, s.clock().UnixMicro())
		})
	})
}

// PutContactList replaces the description and the topics of the account's contact list, but
// not its name. Removing a topic deletes the contacts' choices for it. It fails with
// NotFound without a list, with Invalid for a topic whose name or default is not allowed,
// and with Full for too many topics.
func (s *Simulator) PutContactList(ctx context.Context, orgID, description string, topics []sending.Topic) error {
	return s.call(ctx, MethodPutContactList, func(ctx context.Context) error {
		return s.changeList(ctx, orgID, func(list *sending.ContactList) error {
			list.Description, list.Topics = description, topics
			return nil
		})
	})
}

// ChangeTopics replaces the topics by the result of change, in one transaction, so that no
// other writer can interfere. Topics keep the order of their creation.
func (s *Simulator) ChangeTopics(ctx context.Context, orgID string, change sending.TopicsChange) error {
	var refused error
	err := s.call(ctx, MethodChangeTopics, func(ctx context.Context) error {
		return s.changeList(ctx, orgID, func(list *sending.ContactList) error {
			list.Topics, refused = change(slices.Clone(list.Topics))
			return refused
		})
	})
	if refused != nil {
		return refused
	}
	return err
}

// changeList calls do with the contact list and stores the changed description and topics.
// Contacts lose their choices for removed topics.
func (s *Simulator) changeList(ctx context.Context, orgID string, do func(*sending.ContactList) error) error {
	return s.write(ctx, orgID, func(w *change) {
		before, err := readList(ctx, w.tx.StmtContext(ctx, s.listInTx), orgID)
		if err == nil {
			before.Topics, err = readTopics(ctx, w.tx.StmtContext(ctx, s.topicsInTx), orgID)
		}
		after := before
		if err == nil {
			err = do(&after)
		}
		if w.err = err; err == nil {
			w.err = sending.CheckTopics(after.Topics)
		}
		gone := false
		for _, t := range before.Topics {
			if !slices.ContainsFunc(after.Topics, func(kept sending.Topic) bool { return kept.Name == t.Name }) {
				w.exec(`DELETE FROM topics WHERE org_id = $1 AND name = $2`, orgID, t.Name)
				w.exec(forgetTopic, orgID, " +"+t.Name+" ", " -"+t.Name+" ")
				gone = true
			}
		}
		now := s.clock().UnixMicro()
		w.list(after, now)
		if gone {
			w.exec(touchList, orgID, now)
		}
	})
}

// forgetTopic removes the choice for a topic from the preferences of all contacts.
// preferences.go describes the format of the column preferences.
const forgetTopic = `
UPDATE contacts SET preferences = trim(replace(replace(' ' || preferences || ' ', $2, ' '), $3, ' '))
WHERE org_id = $1 AND (instr(' ' || preferences || ' ', $2) > 0 OR instr(' ' || preferences || ' ', $3) > 0)`

// readList returns the contact list without its topics. It fails with NotFound if the
// account has no list, and with NotConnected if the organization has no account.
func readList(ctx context.Context, stmt *sql.Stmt, orgID string) (sending.ContactList, error) {
	var name, description sql.NullString
	var updatedAt sql.NullInt64
	err := stmt.QueryRowContext(ctx, orgID).Scan(&name, &description, &updatedAt)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return sending.ContactList{}, noAccount()
	case err != nil:
		return sending.ContactList{}, err
	case !name.Valid:
		return sending.ContactList{}, notFoundError("the account has no contact list")
	}
	return sending.ContactList{Name: name.String, Description: description.String, UpdatedAt: timeOf(updatedAt.Int64)}, nil
}

func readTopics(ctx context.Context, stmt *sql.Stmt, orgID string) ([]sending.Topic, error) {
	var topics []sending.Topic
	err := eachRow(ctx, stmt, func(rows *sql.Rows) error {
		var t sending.Topic
		err := rows.Scan(&t.Name, &t.DisplayName, &t.Description, &t.Default)
		topics = append(topics, t)
		return err
	}, orgID)
	return topics, err
}

func timeOf(micros int64) time.Time { return time.UnixMicro(micros).UTC() }
