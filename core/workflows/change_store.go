package workflows

import (
	"context"
	"time"
)

// ChangeStore notes which contacts have changed, for the runs that wait for it. Except for
// Touched, every method sees only the given organization; all take part in the transaction of
// the context.
type ChangeStore interface {
	// Touch notes that contacts have changed, if the organization has a live workflow whose
	// runs wait for changes. TouchRecipients does so for the contacts with these keys of
	// addresses. Touched returns up to limit organizations with notes.
	Touch(ctx context.Context, orgID string, contactIDs []string) error
	TouchRecipients(ctx context.Context, orgID string, keys []string) error
	Touched(ctx context.Context, limit int) (orgIDs []string, err error)
	// Wake lets the runs continue that wait for a change of contacts with notes, and removes up
	// to limit notes. It returns the number of notes. It runs in a transaction of its own.
	Wake(ctx context.Context, orgID string, now time.Time, limit int) (int, error)
}
