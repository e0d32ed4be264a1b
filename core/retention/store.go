package retention

import (
	"context"
	"time"
)

// State is what is stored about a kind of records of an organization.
type State struct {
	// Days is the period that the organization has set, nil for the default.
	Days *int
	// ChangedAt is the time at which the period was set, nil if it never was.
	ChangedAt *time.Time
	// SeenAt is the time at which the job first saw the kind, nil before.
	SeenAt *time.Time
	// RanAt is the time of the last run, nil before the first. A run that deletes nothing is
	// noted once a day.
	RanAt *time.Time
	// Deleted is the number of records that were deleted in all runs together.
	Deleted int
}

// Figures are numbers about stored records.
type Figures struct {
	// Rows is the number of records, and Due that of the ones from before a time. A number of
	// MaxCounted means that there may be more.
	Rows, Due int
	// Oldest is the time of the oldest record, the zero time if there is none.
	Oldest time.Time
}

// MaxCounted is the maximum number of records that are counted.
const MaxCounted = 10_000

// Store stores periods, and counts and deletes old records. Every method except
// DeleteServerJobs sees only the given organization and takes part in the transaction of its context.
type Store interface {
	// States returns what is stored, by kind. Kinds about which nothing is stored are left out.
	States(ctx context.Context, orgID string) (map[Name]State, error)
	// SetDays stores a period. nil stands for the default.
	SetDays(ctx context.Context, orgID string, kind Name, days *int, now time.Time) error
	// NoteRun stores that the job ran and deleted records. The first call for a kind sets SeenAt.
	NoteRun(ctx context.Context, orgID string, kind Name, now time.Time, deleted int) error
	// Figures counts the records of a kind, and those from before a time. It reads at most
	// MaxCounted of them.
	Figures(ctx context.Context, orgID string, kind Name, before time.Time) (Figures, error)
	// DeleteOld deletes at most limit records of a kind from before a time, oldest first, and
	// returns how many. It must not be called for [ArchivedContacts].
	DeleteOld(ctx context.Context, orgID string, kind Name, before time.Time, limit int) (int, error)
	// DeleteServerJobs deletes at most limit failed jobs from before a time, oldest first, that
	// belong to no organization or to one that was erased, and returns how many. Unlike the
	// other methods it works for the whole database.
	DeleteServerJobs(ctx context.Context, before time.Time, limit int) (int, error)
	// ArchivedContacts returns at most limit archived contacts that were last changed before a
	// time, oldest first, after the position. nil is the first position.
	ArchivedContacts(ctx context.Context, orgID string, before time.Time, after *ArchivedContact, limit int) ([]ArchivedContact, error)
}

// ArchivedContact is an archived contact, and its position in the order of changes.
type ArchivedContact struct {
	ID        string
	UpdatedAt time.Time
}

// Contacts erases archived contacts. core/privacy implements it.
type Contacts interface {
	// EraseArchived erases a contact if it is still archived and was last changed before the
	// given time. It reports whether it erased the contact: not if a message to it is on its way.
	EraseArchived(ctx context.Context, orgID, contactID string, before time.Time) (bool, error)
	// Scrub removes remnants of erased rows from the files of the database.
	Scrub(ctx context.Context) error
}
