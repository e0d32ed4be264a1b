package audience

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// noteGrace is how long a write may take between its note and its commit. A sync
// leaves younger notes alone; an older one belongs to a write that failed or was cut off.
const noteGrace = time.Minute

// AccountNote is left by a write before it changes the account, and removed in the
// transaction of the write. One that stays says that the account may have what the
// mirror has not. Only writes whose traces a sync cannot read are noted: those that
// archive, take back into use or move a contact. What a write of another kind left at
// the account is what the person chose last, and the sync takes it over.
type AccountNote struct {
	ID        string
	ContactID string
	// Put is an address that the account does not list before the write, "" for none.
	Put     string
	NotedAt time.Time
}

// NoteStore keeps notes.
type NoteStore interface {
	// NoteAccount stores a note. It takes part in no transaction: it must be there
	// before the account is written.
	NoteAccount(ctx context.Context, orgID string, n AccountNote) error
	// DropAccountNote removes a note; one that is gone is no error.
	DropAccountNote(ctx context.Context, orgID, id string) error
	// AccountNotes are the oldest notes of before a time.
	AccountNotes(ctx context.Context, orgID string, before time.Time, limit int) ([]AccountNote, error)
}

// note stores that a write of a contact is about to change the account, and returns the
// note's id for dropNote.
func (a *Audience) note(ctx context.Context, org, contactID, put string) (string, error) {
	n := AccountNote{ID: core.NewID(), ContactID: contactID, Put: put, NotedAt: a.Clock()}
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
