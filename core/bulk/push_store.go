package bulk

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core/contacts"
)

// PushStore stores consent that has not yet reached the account.
type PushStore interface {
	// ClaimPushes returns due pushes, longest due first, and hides them from other
	// callers until a time.
	ClaimPushes(ctx context.Context, orgID string, due, until time.Time, limit int) ([]Push, error)
	// SettlePushes deletes pushes that were claimed until a time. It stores in their
	// contacts the consent that the account has, as of the time at. It keeps a push that
	// was queued again since, or whose contact changed. It returns how many it deleted.
	SettlePushes(ctx context.Context, orgID string, until, at time.Time, settled []Push) (int, error)
	// PutOffPushes schedules pushes that were claimed until a time for a retry at the
	// time next.
	PutOffPushes(ctx context.Context, orgID string, until, next time.Time, contactIDs []string) error
	// CountPushes returns the number of waiting pushes.
	CountPushes(ctx context.Context, orgID string) (int, error)
}

// ContactReader reads contacts.
type ContactReader interface {
	// ContactByEmail returns a contact, also an archived one. It fails with
	// core.CodeNotFound for none.
	ContactByEmail(ctx context.Context, orgID, email string) (contacts.Contact, error)
}

// Push is a contact whose consent has to be written to the account.
type Push struct {
	Contact  contacts.Contact
	Said     contacts.Said
	Attempts int
}
