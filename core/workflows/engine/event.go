package engine

import "time"

// EventType is the type of an event in the timeline of a run.
type EventType string

// The types of events.
const (
	Enrolled     EventType = "enrolled"
	StepEntered  EventType = "step_entered"
	WaitStarted  EventType = "wait_started"
	WaitMet      EventType = "wait_met"
	WaitTimedOut EventType = "wait_timed_out"
	SendFiltered EventType = "send_filtered"
	SendHeld     EventType = "send_held"
	SendSkipped  EventType = "send_skipped"
	SendFailed   EventType = "send_failed"
	RunExited    EventType = "exited"
	RunCompleted EventType = "completed"
	RunFailed    EventType = "failed"
)

// Event is an entry in the timeline of a run.
type Event struct {
	// Path is the path of the step; "" for the event Enrolled.
	Path string
	Type EventType
	At   time.Time
	// Iteration is the number of the pass of the innermost repeat around the step, from 1; 0
	// outside of repeats.
	Iteration int
	// Arm is the share of a split that the contact is in: arm1, arm2 and so on.
	Arm string
	// Tier and Reason say why a send was filtered.
	Tier   Tier
	Reason Reason
	// Kind and Exit are set for RunExited and RunCompleted: how the run ended, and the name
	// of a named exit.
	Kind ExitKind
	Exit string
	// Detail adds what the type does not say: the arm of an if, the end of a wait or the
	// cause of a failure.
	Detail string
}

// Tier says which check filtered a message.
type Tier string

// The tiers.
const (
	ByCap     Tier = "frequency_cap"
	ByAccount Tier = "account"
	ByTopic   Tier = "topic"
)

// Reason says why a message was filtered.
type Reason string

// The reasons.
const (
	Capped          Reason = "frequency_cap"
	Suppressed      Reason = "suppressed"
	UnsubscribedAll Reason = "unsubscribed_all"
	OptedOut        Reason = "opted_out"
)

// ExitKind says how a run ended.
type ExitKind string

// The kinds of ends.
const (
	// ByName: a named exit matched.
	ByName ExitKind = "named"
	// ByStep: the run came to a step "exit".
	ByStep ExitKind = "step"
	// ByHoldOut: the contact is held out.
	ByHoldOut ExitKind = "hold_out"
	// ByCancel: a person cancelled a held send.
	ByCancel ExitKind = "cancelled"
	// ByArchive: the workflow or the contact was archived.
	ByArchive ExitKind = "archived"
)
