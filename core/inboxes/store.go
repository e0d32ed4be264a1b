package inboxes

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// Store stores inboxes. Methods see only the given organization, unless their comments say
// otherwise. They take part in the transaction of ctx. Methods that find one inbox fail with
// core.CodeNotFound if there is none.
type Store interface {
	// HoldMints locks the mints of the organization until the transaction ends, and reports
	// whether inboxes are disabled for it.
	HoldMints(ctx context.Context, orgID string) (disabled bool, err error)
	// SetDisabled enables or disables inboxes for the organization, and reports whether that
	// changed anything.
	SetDisabled(ctx context.Context, orgID string, disabled bool) (changed bool, err error)
	// InsertInbox stores an inbox with the pull link First. It returns false, and stores nothing, if
	// an inbox of any organization has the local part.
	InsertInbox(ctx context.Context, i Inbox) (bool, error)
	// Inbox returns one inbox. In a transaction it locks the inbox until the transaction ends.
	Inbox(ctx context.Context, orgID, id string) (Inbox, error)
	// Inboxes returns inboxes, newest first by creation time and id.
	Inboxes(ctx context.Context, orgID string, f Filter) ([]Inbox, error)
	// SetLabel stores the label and the visibility of an inbox.
	SetLabel(ctx context.Context, orgID, id, label string, v Visibility) error
	// DeleteInbox marks an inbox that has not ended at now as deleted. It reports false for another.
	DeleteInbox(ctx context.Context, orgID, id string, now time.Time) (bool, error)
	// Reached returns a time for each limit that is reached at now, and nil for another. It is the
	// time of that inbox which must no longer count: the creation of the N-th newest in the window,
	// or the end of that live one for which N-1 others end later. At most two limits may have a
	// window, and two none.
	Reached(ctx context.Context, orgID string, limits []Limit, now time.Time) ([]*time.Time, error)
	// Address returns the inbox with the local part, also an ended one, of any organization.
	Address(ctx context.Context, localPart string) (Target, error)
}

// Target identifies an inbox.
type Target struct{ OrgID, InboxID string }

// Filter selects inboxes. Fields with their zero value select all.
type Filter struct {
	// Owner selects the inboxes of this owner and, with Shared, those with Shared visibility
	// too.
	Owner      string
	Shared     bool
	AccountRef string
	Status     Status
	Now        time.Time
	Limit      int
}

// Limit is a limit on the inboxes of an organization: at most N unrestricted ones are created
// within Window or, if Window is 0, at most N of those live that Live selects. N is at least 1.
type Limit struct {
	N      int
	Window time.Duration
	Live   LiveFilter
}

// LiveFilter selects the live inboxes that a cap counts. Fields with their zero value select
// all.
type LiveFilter struct {
	Unrestricted       bool
	Caller, AccountRef string
}

// MessageStore stores the messages of inboxes. See Store for the rules of its methods.
type MessageStore interface {
	// Received returns messages with a Seq above after, oldest first: at most limit, and no
	// more after their JSON has maxBytes in all. It returns at least one if there is one.
	Received(ctx context.Context, orgID, inboxID string, after, limit, maxBytes int) ([]Stored, error)
	// RemoveReceived deletes messages up to a position.
	RemoveReceived(ctx context.Context, orgID, inboxID string, upTo int) error
}

// Reference identifies a message of an inbox.
type Reference struct {
	Target
	MessageID string
}

// Arrival is a new message of an inbox.
type Arrival struct {
	Target
	Stored
}

// Count has numbers of messages of an inbox, and the size of the accepted ones in bytes.
type Count struct {
	Target
	Accepted, Dropped int
	Bytes             int64
}

// DeliveryStore stores new messages. Each method takes part in the transaction of ctx, and runs
// one statement for inboxes of any organizations.
type DeliveryStore interface {
	// HoldInboxes locks inboxes until the transaction ends, and returns those that exist, without
	// First. It locks them in the order of their ids, so that callers do not wait for each other in
	// a circle.
	HoldInboxes(ctx context.Context, all []Target) ([]Inbox, error)
	// KnownReceived returns those of the messages that the inboxes have.
	KnownReceived(ctx context.Context, all []Reference) ([]Reference, error)
	// AddReceived stores messages. added has an element for each: false if the inbox has a message
	// with the id, which stays as it is. Large messages are stored by several statements.
	AddReceived(ctx context.Context, all []Arrival) (added []bool, err error)
	// CountReceived adds to the numbers of accepted and dropped messages of inboxes, and to their
	// size. all has each inbox once at most. Inboxes that do not exist are ignored.
	CountReceived(ctx context.Context, all []Count) error
}

// TokenStore stores pull links. See Store for the rules of its methods.
type TokenStore interface {
	AddToken(ctx context.Context, orgID string, t Token) error
	// PullTokens returns the pull links of an inbox, first those that work, then the revoked ones,
	// each newest first.
	PullTokens(ctx context.Context, orgID, inboxID string) ([]Token, error)
	// RevokeToken revokes a pull link. It does nothing if the link is revoked or does not exist.
	RevokeToken(ctx context.Context, orgID, inboxID, id string, now time.Time) error
	// InboxByToken returns the inbox of a pull link that is not revoked, of any organization,
	// also if the inbox has expired. It fails with core.CodeNotFound for the link of a deleted
	// inbox.
	InboxByToken(ctx context.Context, hash []byte) (Inbox, error)
}

// PurgeStore finds what can be deleted, in all organizations.
type PurgeStore interface {
	// Ended returns inboxes that ended by now and still may have messages, oldest first.
	Ended(ctx context.Context, now time.Time, limit int) ([]Target, error)
	// MarkPurged records that an ended inbox has no messages any more. It reports false, and
	// records nothing, if the inbox has messages: a delivery that began before the end of the
	// inbox may be committed after a read of them.
	MarkPurged(ctx context.Context, t Target, now time.Time) (bool, error)
	// Forget deletes purged inboxes that ended before a time, and their pull links, and returns
	// the number of inboxes. It may be repeated until it returns less than limit.
	Forget(ctx context.Context, before time.Time, limit int) (int, error)
}

// errNoInbox is the error for an inbox that does not exist or is not visible to the caller.
func errNoInbox() error { return core.NotFound("inbox") }
