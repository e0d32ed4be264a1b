package workflows

import (
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/mailhelm/mailhelm/core/workflows/language"
)

// Status is the status of a workflow.
type Status string

// The statuses of a workflow.
const (
	// Draft: it was never activated.
	Draft Status = "draft"
	// Active: contacts enter, and runs move.
	Active Status = "active"
	// Paused: no contact enters, and no run moves. Timers that end in the meantime are due when
	// it is resumed.
	Paused Status = "paused"
	// Archived: it has ended for good, and its runs with it.
	Archived Status = "archived"
	// Invalid: its current version names something that does not exist any more. It behaves
	// like a paused workflow until the name exists again.
	Invalid Status = "invalid"
)

// Origin says where the definition of a workflow is kept.
type Origin string

// The origins.
const (
	Managed Origin = "managed"
	FromGit Origin = "git"
)

// Workflow is a workflow without its sources.
type Workflow struct {
	ID, Key, Name string
	Status        Status
	// StatusBefore is the status to which an invalid workflow returns when it is valid again.
	StatusBefore  Status
	InvalidReason string
	// RequireApproval holds each message until a person approves it.
	RequireApproval bool
	// CurrentVersion is the version in which runs begin, 0 before the first activation.
	// DraftVersion is the version that is being written, 0 if there is none. It is greater
	// than CurrentVersion.
	CurrentVersion, DraftVersion int
	// Trigger is that of the current version.
	Trigger Trigger
	// WaitsForChange is true if runs of any version may wait for a change of their contact.
	WaitsForChange bool
	// SweptUntil is the time until which the dates of a date trigger have been looked for.
	SweptUntil time.Time
	// Backfill lets existing contacts enter, page by page; nil if none are left.
	Backfill              *Backfill
	Origin                Origin
	SourcePath, SourceURL string
	CreatedAt, UpdatedAt  time.Time
	// ActivatedAt is the time of the last activation, nil before the first.
	ActivatedAt *time.Time
	// Closing is true for an archived workflow with runs that are still to be ended.
	Closing bool
}

// TriggerKind is the kind of a trigger, as it is stored.
type TriggerKind string

// The kinds of triggers.
const (
	OnSegment  TriggerKind = "segment"
	OnActivity TriggerKind = "activity"
	OnEvent    TriggerKind = "event"
	OnDate     TriggerKind = "date"
)

// Trigger is what makes contacts enter a workflow.
type Trigger struct {
	Kind TriggerKind
	// Source is the id of a segment, the name of an activity or of an event of mail, or the
	// name of an attribute.
	Source string
	// Key is Source as people write it: the key of a segment instead of its id.
	Key string
}

// Backfill is the progress of letting existing contacts enter.
type Backfill struct {
	// Since is the time from which the trigger must have happened; zero for any time.
	Since time.Time `json:"since"`
	// After is the id of the last contact that was looked at, "" before the first.
	After string `json:"after"`
	// At is the time of the activation, until which the trigger must have happened.
	At time.Time `json:"at"`
}

// Version is a version of a workflow.
type Version struct {
	Number int
	Source string
	// ContentHash is [HashOf] the source.
	ContentHash string
	CreatedAt   time.Time
	CreatedBy   Author
	// ActivatedAt is nil for a version that was never the current one.
	ActivatedAt *time.Time
}

// Author is who saved a version.
type Author struct {
	// Kind and ID are those of the principal, UserID is the person behind it, "" if there is
	// none.
	Kind, ID, UserID string
}

// HashOf returns the content hash of a source: SHA-256 in hexadecimal.
func HashOf(source string) string {
	sum := sha256.Sum256([]byte(source))
	return hex.EncodeToString(sum[:])
}

// IsLive reports whether runs of the workflow may move now.
func (w Workflow) IsLive() bool { return w.Status == Active }

// Latest returns the number of the newest version: the draft or, without one, the current.
func (w Workflow) Latest() int { return max(w.CurrentVersion, w.DraftVersion) }

// TriggerOf returns the trigger of a checked workflow. segments has the ids of segments by key.
func TriggerOf(t language.Trigger, segments map[string]string) Trigger {
	switch {
	case t.Kind == language.OnSegment:
		return Trigger{OnSegment, segments[t.Segment], t.Segment}
	case t.Kind == language.OnDate:
		return Trigger{OnDate, t.Attribute, t.Attribute}
	case t.Event.Activity != "":
		return Trigger{OnActivity, t.Event.Activity, t.Event.Activity}
	}
	return Trigger{OnEvent, t.Event.String(), t.Event.String()}
}
