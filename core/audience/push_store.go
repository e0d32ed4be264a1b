package audience

import (
	"context"
	"time"
)

// PushStore is what is remembered of consent that has yet to come to the account.
type PushStore interface {
	// ClaimPushes gives pushes that are due, longest due first, and takes them out of
	// the way of others until a time.
	ClaimPushes(ctx context.Context, orgID string, due, until time.Time, limit int) ([]Push, error)
	// SettlePushes removes pushes that were claimed until a time, and brings their
	// contacts the consent that the account has now, as of at. One that was queued anew since,
	// or whose contact changed, is left for another time. It returns how many it
	// settled.
	SettlePushes(ctx context.Context, orgID string, until, at time.Time, settled []Push) (int, error)
	// PutOffPushes has pushes that were claimed until a time tried again later.
	PutOffPushes(ctx context.Context, orgID string, until, next time.Time, contactIDs []string) error
	// PendingPush is what has yet to come to the account of a contact, nil for nothing.
	PendingPush(ctx context.Context, orgID, contactID string) (*Said, error)
	// CountPushes counts what waits.
	CountPushes(ctx context.Context, orgID string) (int, error)
}

// Push is a contact whose consent the account has to be told.
type Push struct {
	Contact  Contact
	Said     Said
	Attempts int
}
