package sending

import (
	"context"
	"time"
)

// Suppressions is the account's own list of addresses that it refuses to send to. The
// account maintains this list by itself.
type Suppressions interface {
	// FindSuppressed returns one entry. Addresses are matched without regard to case. It
	// fails with NotFound when the address is not on the list.
	FindSuppressed(ctx context.Context, orgID, email string) (Suppressed, error)
	// SuppressedPage returns a page of at most 1,000 entries that were added in the
	// window, in the account's own order. A zero time leaves that end of the window
	// open. token is "" for the first page; next is "" after the last page.
	SuppressedPage(ctx context.Context, orgID string, since, until time.Time, token string) (page []Suppressed, next string, err error)
}

// SuppressionReason is the reason why an address is on the account's list.
type SuppressionReason string

// The reasons. An entry has the reason that the account gives, even if a person added
// the entry with that reason. When the account gives neither bounce nor complaint, the
// entry is manual. A page and a single entry report the same reason.
const (
	SuppressedByBounce    SuppressionReason = "bounce"
	SuppressedByComplaint SuppressionReason = "complaint"
	SuppressedByHand      SuppressionReason = "manual"
)

// Suppressed is an entry of the account's list. Email has the account's spelling.
type Suppressed struct {
	Email  string
	Reason SuppressionReason
	At     time.Time
}
