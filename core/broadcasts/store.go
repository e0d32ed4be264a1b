package broadcasts

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// Store stores broadcasts. Every method sees only the given organization and takes part in
// the transaction of its context. Methods that find one broadcast fail with
// core.CodeNotFound if there is none.
type Store interface {
	Insert(ctx context.Context, orgID string, b Broadcast) error
	// Update replaces all fields of the broadcast except its id and those about its creation.
	Update(ctx context.Context, orgID string, b Broadcast) error
	// Delete removes the broadcast and its recipients.
	Delete(ctx context.Context, orgID, id string) error
	// Broadcast returns one broadcast. In a transaction it locks the broadcast until the
	// transaction ends.
	Broadcast(ctx context.Context, orgID, id string) (Broadcast, error)
	// Broadcasts returns one page of broadcasts, newest first by creation time and id. They
	// lack HTML, Text and Frozen.
	Broadcasts(ctx context.Context, orgID string, f Filter) ([]Broadcast, error)
	// CountByState returns the numbers of broadcasts by state.
	CountByState(ctx context.Context, orgID string) (map[State]int, error)
	// LockProgress returns what a worker checks before each claim, and locks the broadcast
	// until the transaction ends.
	LockProgress(ctx context.Context, orgID, id string) (Progress, error)
	// FailedSince returns the ids of broadcasts that ended after the time with failed
	// recipients.
	FailedSince(ctx context.Context, orgID string, since time.Time) ([]string, error)
	// SetCounts stores counts of recipients, if the broadcast still sends and newer ones are not
	// stored yet.
	SetCounts(ctx context.Context, orgID, id string, sent, failed, filtered int) error
	// SetPace stores the time from which the rate of the broadcast permits the next message.
	SetPace(ctx context.Context, orgID, id string, at time.Time) error
	// SetPause stores why the broadcast waits, nil for no reason. It does not replace a pause
	// by a person.
	SetPause(ctx context.Context, orgID, id string, p *Pause) error
}

// Progress is what decides whether the recipients of a broadcast may be claimed.
type Progress struct {
	State   State
	Paused  PauseReason
	Rate    int
	PacedAt time.Time
}

// Filter selects a page of broadcasts. Fields with their zero value select all.
type Filter struct {
	// Query is a part of the name or the subject, in any case.
	Query string
	State State
	// Tag selects broadcasts with the tag, and Untagged those without tags.
	Tag      string
	Untagged bool
	After    *core.After
	Limit    int
}

// OpenSend is a broadcast that package dispatch starts or drives.
type OpenSend struct{ OrgID, ID string }

// OpenStore finds the broadcasts of all organizations that have something to do.
type OpenStore interface {
	// Open returns up to limit broadcasts that are sending and not paused by a person, or
	// scheduled for now or earlier. The order is random, so that no organization comes last
	// every time.
	Open(ctx context.Context, now time.Time, limit int) ([]OpenSend, error)
}
