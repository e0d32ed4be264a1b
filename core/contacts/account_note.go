package contacts

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/topics"
)

// NoteStore stores the notes that writes of contacts make before they change the
// account; see [topics.AccountNote].
type NoteStore interface {
	// NoteAccount stores a note outside of any transaction, so that the note exists
	// before the account is written.
	NoteAccount(ctx context.Context, orgID string, n topics.AccountNote) error
	// DropAccountNote deletes a note. It succeeds if the note does not exist.
	DropAccountNote(ctx context.Context, orgID, id string) error
}

// note stores that a write of a contact is about to change the account. It returns the
// note's id for dropNote.
func (wr writer) note(ctx context.Context, org, contactID, put string) (string, error) {
	n := topics.AccountNote{ID: core.NewID(), ContactID: contactID, Put: put, NotedAt: wr.Clock()}
	return n.ID, wr.Notes.NoteAccount(ctx, org, n)
}

// noteWrite stores a note for a write that reactivates a contact or changes its address.
// listed says whether the account lists the new address.
func (wr writer) noteWrite(ctx context.Context, org string, existing *Contact, email string, listed bool) (string, error) {
	if existing == nil || existing.Status == Active && EmailKey(existing.Email) == EmailKey(email) {
		return "", nil
	}
	if listed {
		email = ""
	}
	return wr.note(ctx, org, existing.ID, email)
}

// dropNote deletes the note of a successful write, in its transaction. It does nothing
// for "".
func (wr writer) dropNote(ctx context.Context, org, id string) error {
	if id == "" {
		return nil
	}
	return wr.Notes.DropAccountNote(ctx, org, id)
}
