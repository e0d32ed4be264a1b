package contacts

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/topics"
)

// NoteStore stores notes about writes of contacts that are about to change the sending
// account. A note that was not deleted shows that its write may have been interrupted.
type NoteStore interface {
	// NoteAccount stores a note that a write of a contact is about to change the sending
	// account. It stores the note outside of any transaction, so that the note is committed
	// before the write calls the account.
	NoteAccount(ctx context.Context, orgID string, n topics.AccountNote) error
	// DropAccountNote deletes a note. It succeeds if the note does not exist.
	DropAccountNote(ctx context.Context, orgID, id string) error
}

// note records that a write of a contact is about to change the sending account. put is the
// address that the write adds to the account, "" for none. It returns the note's id for
// dropNote.
func (wr writer) note(ctx context.Context, org, contactID, put string) (string, error) {
	n := topics.AccountNote{ID: core.NewID(), ContactID: contactID, Put: put, NotedAt: wr.Clock()}
	return n.ID, wr.Notes.NoteAccount(ctx, org, n)
}

// noteWrite stores an account note before a write that reactivates a contact or changes its
// address, and returns the note's id. For other writes, it stores nothing and returns "".
// listed is true if the sending account already has the new address.
func (wr writer) noteWrite(ctx context.Context, org string, existing *Contact, email string, listed bool) (string, error) {
	if existing == nil || existing.Status == Active && EmailKey(existing.Email) == EmailKey(email) {
		return "", nil
	}
	if listed {
		email = ""
	}
	return wr.note(ctx, org, existing.ID, email)
}

// dropNote deletes the account note with this id. It runs in the transaction of the contact
// write for which the note was stored. For the id "" it does nothing.
func (wr writer) dropNote(ctx context.Context, org, id string) error {
	if id == "" {
		return nil
	}
	return wr.Notes.DropAccountNote(ctx, org, id)
}
