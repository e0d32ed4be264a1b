package audience

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/topics"
)

// NoteStore keeps the notes that writes of contacts leave before they change the account;
// see [topics.AccountNote].
type NoteStore interface {
	// NoteAccount stores a note outside of any transaction: the note must be there before
	// the account is written.
	NoteAccount(ctx context.Context, orgID string, n topics.AccountNote) error
	// DropAccountNote deletes a note. It succeeds when the note is gone.
	DropAccountNote(ctx context.Context, orgID, id string) error
}

// note stores that a write of a contact is about to change the account, and returns the
// note's id for dropNote.
func (a *Audience) note(ctx context.Context, org, contactID, put string) (string, error) {
	n := topics.AccountNote{ID: core.NewID(), ContactID: contactID, Put: put, NotedAt: a.Clock()}
	return n.ID, a.Store.NoteAccount(ctx, org, n)
}

// noteWrite notes a write that takes a contact back into use or moves it. listed says
// whether the account lists the address that the contact gets.
func (a *Audience) noteWrite(ctx context.Context, org string, existing *Contact, email string, listed bool) (string, error) {
	if existing == nil || existing.Status == Active && EmailKey(existing.Email) == EmailKey(email) {
		return "", nil
	}
	if listed {
		email = ""
	}
	return a.note(ctx, org, existing.ID, email)
}

// dropNote removes the note of a write that succeeds, in its transaction. "" is no note.
func (a *Audience) dropNote(ctx context.Context, org, id string) error {
	if id == "" {
		return nil
	}
	return a.Store.DropAccountNote(ctx, org, id)
}
