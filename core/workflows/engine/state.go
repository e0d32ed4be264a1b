package engine

import (
	"maps"
	"time"
)

// Status is the status of a run.
type Status string

// The statuses of a run.
const (
	Active Status = "active"
	// Completed means that the run has passed the last step or a step "exit".
	Completed Status = "completed"
	// Exited means that the run has left by a named exit, a hold-out, a cancelled send, or
	// because its workflow or its contact was archived.
	Exited Status = "exited"
	// Failed means that a step had an error that repetition did not solve.
	Failed Status = "failed"
)

// Phase says how far a run has come with its step.
type Phase string

// The phases of a step.
const (
	// Entering: the step has not begun.
	Entering Phase = "entering"
	// Waiting: a wait, or the delay of a repeat, has begun.
	Waiting Phase = "waiting"
	// Held: a send waits for a person.
	Held Phase = "held"
	// Approved, Skipped and Cancelled: a person has decided about a held send.
	Approved  Phase = "approved"
	Skipped   Phase = "skipped"
	Cancelled Phase = "cancelled"
	// Delayed: a send waits for the send window.
	Delayed Phase = "delayed"
	// Sending: the message waits for the account or is being passed to it.
	Sending Phase = "sending"
	// Sent: the message has an outcome.
	Sent Phase = "sent"
)

// State is where a run is. [Begin] returns that of a new run.
type State struct {
	Status Status
	// Node is the path of the current step, "" for a run that has not begun. A run that has
	// ended keeps the path of its last step.
	Node  string
	Phase Phase
	// Until is the end of a wait, zero if there is none.
	Until time.Time
	// WakeAt is the time at which the run continues, zero if no timer wakes it.
	WakeAt time.Time
	// OnChange is true if a change of the contact also wakes the run.
	OnChange bool
	// Passed is true if a person has approved the current send.
	Passed bool
	// Passes has the number of the current pass of each repeat around the step, by its path.
	// The number is 0 before the first pass.
	Passes map[string]int
}

// Begin returns the state of a run that begins at the time.
func Begin(at time.Time) State { return State{Status: Active, Phase: Entering, WakeAt: at} }

// IsOver reports whether the run has ended.
func (s State) IsOver() bool { return s.Status != Active }

// clone returns a copy that shares no map.
func (s State) clone() State {
	s.Passes = maps.Clone(s.Passes)
	return s
}
