package bulk

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core/contacts"
)

// PushStore stores pushes: consent that has not yet been written to the sending account.
type PushStore interface {
	// ClaimPushes returns pushes that are due, longest due first, and hides them from other
	// callers until the time until.
	ClaimPushes(ctx context.Context, orgID string, due, until time.Time, limit int) ([]Push, error)
	// SettlePushes deletes pushes that were claimed until the time until. It stores the
	// consent that the account now has in their contacts, as of the time at. It keeps a push
	// that was queued again since, or whose contact changed. It returns how many pushes it
	// deleted.
	SettlePushes(ctx context.Context, orgID string, until, at time.Time, settled []Push) (int, error)
	// PutOffPushes schedules a retry at the time next for pushes of these contacts that were
	// claimed until the time until.
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
