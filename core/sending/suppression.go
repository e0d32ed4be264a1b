package sending

import (
	"context"
	"time"
)

// Suppressions reads the suppression list of an account: the addresses to which the account
// itself refuses to send. The account adds addresses after bounces and complaints.
type Suppressions interface {
	// FindSuppressed returns the entry of an address in the suppression list, ignoring case.
	// It fails with NotFound if the list does not have the address.
	FindSuppressed(ctx context.Context, orgID, email string) (Suppressed, error)
	// SuppressedPage returns a page of at most 1,000 entries that were added between since
	// and until, in the account's own order. A zero time means no limit at that end. token
	// is "" for the first page; next is "" after the last page.
	SuppressedPage(ctx context.Context, orgID string, since, until time.Time, token string) (page []Suppressed, next string, err error)
}

// SuppressionReason is the reason why an address is on the account's suppression list.
type SuppressionReason string

// The reasons of entries in the suppression list. If the account reports bounce or
// complaint, this is the reason, even if a person added the entry. Any other reason that
// the account reports becomes manual. FindSuppressed and SuppressedPage return the same
// reason for an address.
const (
	SuppressedByBounce    SuppressionReason = "bounce"
	SuppressedByComplaint SuppressionReason = "complaint"
	SuppressedByHand      SuppressionReason = "manual"
)

// Suppressed is an entry of the account's suppression list. Email is spelled as the account
// stores the address.
type Suppressed struct {
	Email  string
	Reason SuppressionReason
	At     time.Time
}
