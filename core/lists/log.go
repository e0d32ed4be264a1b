package lists

import "time"

// SetKind tells whether a transition in the membership log is about a list or a segment.
type SetKind string

// The kinds of sets that contacts enter and leave: static lists and segments.
const (
	ListSet    SetKind = "list"
	SegmentSet SetKind = "segment"
)

// Transition is an entry of the membership log: a contact entered or left a list or a
// segment.
type Transition struct {
	ID        string
	At        time.Time
	Kind      SetKind
	SetID     string
	ContactID string
	Entered   bool
}
