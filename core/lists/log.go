package lists

import "time"

// SetKind is the kind of the set that a transition is about.
type SetKind string

// The kinds of sets that contacts enter and leave.
const (
	ListSet    SetKind = "list"
	SegmentSet SetKind = "segment"
)

// Transition is a line of the membership log: a contact entered a set or left it.
type Transition struct {
	ID        string
	At        time.Time
	Kind      SetKind
	SetID     string
	ContactID string
	Entered   bool
}
