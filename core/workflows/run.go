package workflows

import (
	"time"

	"github.com/mailhelm/mailhelm/core/workflows/engine"
)

// Cause says why a contact entered a workflow.
type Cause string

// The causes.
const (
	SegmentEntered    Cause = "segment_entered"
	ActivityTriggered Cause = "activity_triggered"
	EventTriggered    Cause = "event_triggered"
	DateReached       Cause = "date_reached"
	// BackEnrolled: the contact entered at the activation, for a trigger of before.
	BackEnrolled Cause = "back_enrolled"
)

// CauseOf returns the cause of a run that a trigger of this kind starts.
func CauseOf(kind TriggerKind) Cause {
	return map[TriggerKind]Cause{OnSegment: SegmentEntered, OnActivity: ActivityTriggered, OnEvent: EventTriggered, OnDate: DateReached}[kind]
}

// Run is the way of one contact through a version of a workflow.
type Run struct {
	ID, WorkflowID string
	Version        int
	ContactID      string
	State          engine.State
	Cause          Cause
	// SourceKey is the key of the segment, or the name of the activity, event or attribute
	// that let the contact enter.
	SourceKey string
	StartedAt time.Time
	// CompletedAt is the time of the end, nil for an active run.
	CompletedAt *time.Time
	// ExitKind and ExitName say how the run has ended, see engine.Event.
	ExitKind engine.ExitKind
	ExitName string
	// Faults is the number of attempts at the current step that failed.
	Faults int
}

// Event is an event in the timeline of a run.
type Event struct {
	ID, RunID string
	// Version is that of the run.
	Version int
	engine.Event
}

// Entry is a trigger that has happened for a contact. The runner decides whether a run begins.
type Entry struct {
	ID         string
	ContactID  string
	Cause      Cause
	SourceKey  string
	OccurredAt time.Time
}
