package bulk

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core/contacts"
)

// PushStore stores pushes: consent that has not yet been written to the sending account.
type PushStore interface {
	// ClaimPushes returns at most limit pushes that are due at the time due, longest due
	// first. It hides them from other callers until the claim ends, at the time given by
	// until.
	ClaimPushes(ctx context.Context, orgID string, due, until time.Time, limit int) ([]Push, error)
	// SettlePushes deletes pushes whose claim ends at the time given by until. In the
	// contacts of these pushes, it stores the consent that the account now has, with the
	// time at. A push that was queued again, or whose contact changed, is kept. It returns
	// how many pushes it deleted.
	SettlePushes(ctx context.Context, orgID string, until, at time.Time, settled []Push) (int, error)
	// PutOffPushes schedules a retry of pushes of these contacts whose claim ends at the
	// time given by until. The retry is due at next.
	PutOffPushes(ctx context.Context, orgID string, until, next time.Time, contactIDs []string) error
	// CountPushes returns the number of pushes that are stored.
	CountPushes(ctx context.Context, orgID string) (int, error)
}

// ContactReader reads contacts.
type ContactReader interface {
	// ContactByEmail returns the contact with the address, even if it is archived. It fails
	// with core.CodeNotFound if there is none.
	ContactByEmail(ctx context.Context, orgID, email string) (contacts.Contact, error)
}

// Push is a contact whose stated consent (Said) has to be written to the sending account.
type Push struct {
	Contact  contacts.Contact
	Said     contacts.Said
	Attempts int
}
