package workflows

import (
	"context"
	"time"
)

// TriggerTime is a time at which a trigger happened for a contact. Entered is false for the time
// at which the contact left a segment.
type TriggerTime struct {
	ContactID string
	At        time.Time
	Entered   bool
}

// TriggerStore reads when triggers have happened in the past, for estimates. Its methods see only
// active contacts of the given organization, and fail for date triggers.
type TriggerStore interface {
	// Times returns the times of a trigger since a time and before another, for an even sample
	// of up to limit contacts, sorted by contact and time.
	Times(ctx context.Context, orgID string, t Trigger, since, until time.Time, limit int) ([]TriggerTime, error)
	// Count returns the number of contacts for whom the trigger has happened since a time and
	// before another.
	Count(ctx context.Context, orgID string, t Trigger, since, until time.Time) (int, error)
}
