package bulk

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core/consent"
	"github.com/mailhelm/mailhelm/core/contacts"
)

// PushStore stores pushes: consent that has not yet been written to the sending account.
type PushStore interface {
	// ClaimPushes returns at most limit pushes that are due at the time due, the longest due
	// first. Other callers do not get these pushes before the claim ends, at the time given
	// by until.
	ClaimPushes(ctx context.Context, orgID string, due, until time.Time, limit int) ([]Push, error)
	// SettlePushes ends the pushes in settled, which the account accepted or refused for
	// good. It deletes those whose claim ends at the time until, and stores in each contact
	// the consent that the push in settled has. The parameter at becomes the time of the
	// contact's last change. SettlePushes keeps a push that was queued again, or whose
	// contact changed, after the claim. It returns the number of deleted pushes.
	SettlePushes(ctx context.Context, orgID string, until, at time.Time, settled []Push) (int, error)
	// PutOffPushes postpones the pushes of these contacts to the time next. It changes only
	// pushes whose claim ends at the time given by until.
	PutOffPushes(ctx context.Context, orgID string, until, next time.Time, contactIDs []string) error
}

// ContactReader reads contacts.
type ContactReader interface {
	// ContactByEmail returns the contact with the address, even if it is archived. It fails
	// with core.CodeNotFound if there is none.
	ContactByEmail(ctx context.Context, orgID, email string) (contacts.Contact, error)
	// ContactByID returns the contact with the id, even if it is archived. It fails with
	// core.CodeNotFound if there is none.
	ContactByID(ctx context.Context, orgID, id string) (contacts.Contact, error)
}

// Push is a contact with consent that must still be written to the sending account.
// Attempts counts the attempts to write it, including the current one.
type Push struct {
	Contact  contacts.Contact
	Consent  consent.Pending
	Attempts int
}
