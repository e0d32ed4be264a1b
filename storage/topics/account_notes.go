package topics

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core/topics"
	"github.com/mailhelm/mailhelm/storage/engine"
)

var (
	// insertAccountNote stores a note that a write of a contact is about to change the
	// sending account. The column put is the address that the write adds to the account, or
	// "".
	insertAccountNote = engine.Register("insert account note", `
		INSERT INTO account_notes (org_id, id, contact_id, put, noted_at) VALUES ($1, $2, $3, $4, $5)`)
	dropAccountNote = engine.Register("drop account note", `DELETE FROM account_notes WHERE org_id = $1 AND id = $2`)
	// accountNotes selects the oldest notes about writes to the sending account, through the
	// index account_notes_due.
	accountNotes = engine.Register("account notes", `
		SELECT id, contact_id, put, noted_at FROM account_notes WHERE org_id = $1 AND noted_at <= $2 ORDER BY noted_at, id LIMIT $3`)
)

// accountNoteRow is a note about a write of a contact. The write may have changed the
// sending account without being committed in this database.
type accountNoteRow struct {
	ID      string      `db:"id"`
	Contact string      `db:"contact_id"`
	Put     string      `db:"put"`
	NotedAt engine.Time `db:"noted_at"`
}

func (s Store) NoteAccount(ctx context.Context, orgID string, n topics.AccountNote) error {
	_, err := s.db.Exec(ctx, insertAccountNote, orgID, n.ID, n.ContactID, n.Put, engine.At(n.NotedAt))
	return err
}

// DropAccountNote deletes the note about a write of a contact. It runs in the transaction
// of that write, or after the sync has repaired the contact. It also succeeds if the note
// does not exist.
func (s Store) DropAccountNote(ctx context.Context, orgID, id string) error {
	return s.db.Later(ctx, dropAccountNote, orgID, id)
}

func (s Store) AccountNotes(ctx context.Context, orgID string, before time.Time, limit int) ([]topics.AccountNote, error) {
	return engine.ListAs(ctx, s.db, accountNoteRow.accountNote, accountNotes, orgID, engine.At(before), limit)
}

// accountNote converts the row to a topics.AccountNote.
func (r accountNoteRow) accountNote() topics.AccountNote {
	return topics.AccountNote{ID: r.ID, ContactID: r.Contact, Put: r.Put, NotedAt: r.NotedAt.Time()}
}
