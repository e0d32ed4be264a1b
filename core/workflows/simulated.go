package workflows

import "time"

// DryStep is what a step of a workflow would do for a contact.
type DryStep struct {
	// NodePath and NodeType are the path and the type of the step; see package language.
	NodePath, NodeType string
	Action             DryAction
	// Detail adds what the action does not say, such as the template; "" for nothing.
	Detail string
}

// DryAction says what a step would do.
type DryAction string

// The actions of a dry run.
const (
	WouldSend     DryAction = "would-send"
	WouldSkip     DryAction = "would-skip"
	WouldSet      DryAction = "would-set"
	WouldAdd      DryAction = "would-add"
	Waited        DryAction = "waited"
	MatchedBranch DryAction = "matched-branch"
	EnteredArm    DryAction = "entered-arm"
	HeldOut       DryAction = "held-out"
	Exited        DryAction = "exited"
)

// Estimate says how many contacts would enter a workflow, and what they would get.
type Estimate struct {
	// EnterNow is the number of contacts that would enter at an activation, if that lets existing
	// contacts enter.
	EnterNow int
	// PerDay is the average number of contacts that would have entered on each of Days.
	PerDay float64
	// Days has the past days, the oldest first.
	Days []DayEstimate
	// Sends has the send steps, in the order of the source.
	Sends []SendEstimate
	Exits []ExitEstimate
	// Contacts is the number of contacts that were simulated. If Sampled is true, they are a
	// random part, and the numbers are projections.
	Contacts int
	Sampled  bool
}

// DayEstimate is what would have happened on one past day, which begins at Day in UTC.
type DayEstimate struct {
	Day             time.Time
	Enrolled, Sends int
}

// SendEstimate is the average number of messages of a send step on each past day.
type SendEstimate struct {
	Path, Template string
	PerDay         float64
}

// ExitEstimate is the number of runs that would have ended by a named exit.
type ExitEstimate struct {
	Name  string
	Count int
}
