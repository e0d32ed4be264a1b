package sending

import (
	"context"
	"time"
)

// Suppressions is the account's own list of addresses that it refuses to mail: a
// hard gate, which the account keeps by itself.
type Suppressions interface {
	// Suppressed reads one address, matched without regard to case; NotFound when
	// it is not on the list.
	Suppressed(ctx context.Context, orgID, email string) (Suppressed, error)
	// SuppressedPage reads a page of at most 1,000 entries, in the account's own
	// order, that were added in the window; a zero time leaves that end open.
	// token is "" for the first page; next is "" after the last.
	SuppressedPage(ctx context.Context, orgID string, since, until time.Time, token string) (page []Suppressed, next string, err error)
}

// SuppressionReason is why an address is on the account's list.
type SuppressionReason string

// The reasons. An entry has the reason that the account gives, also when somebody
// entered it there under that reason; one for which it gives neither of the first
// two was put there by hand. A page and a single record say the same.
const (
	SuppressedByBounce    SuppressionReason = "bounce"
	SuppressedByComplaint SuppressionReason = "complaint"
	SuppressedByHand      SuppressionReason = "manual"
)

// Suppressed is an entry of the account's list. Email is as the account spells it.
type Suppressed struct {
	Email  string
	Reason SuppressionReason
	At     time.Time
}
