package wording

import (
	"time"

	"github.com/mailhelm/mailhelm/core/workflows"
	"github.com/mailhelm/mailhelm/core/workflows/engine"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// State is the status of a workflow or a run in words, with the class of its mark.
type State struct{ Name, Mark string }

// Statuses are the Statuses of workflows, in the order of StatusOrder.
var Statuses = map[workflows.Status]State{
	workflows.Active: {"Active", "good"}, workflows.Paused: {"Paused", ""}, workflows.Invalid: {"Invalid", "ended"},
	workflows.Draft: {"Draft", "test"}, workflows.Archived: {"Archived", "test"},
}

// StatusOrder has the statuses of workflows in the order in which pages show them.
var StatusOrder = []workflows.Status{workflows.Active, workflows.Paused, workflows.Invalid, workflows.Draft, workflows.Archived}

// RunStatuses are the Statuses of runs, in the order of RunOrder.
var RunStatuses = map[engine.Status]State{
	engine.Active: {"Under way", "live"}, engine.Completed: {"Completed", "good"}, engine.Exited: {"Left", "test"}, engine.Failed: {"Failed", "ended"},
}

// RunOrder has the statuses of runs in the order in which pages show them.
var RunOrder = []engine.Status{engine.Active, engine.Completed, engine.Exited, engine.Failed}

// CauseOf says why a contact entered.
func CauseOf(r workflows.Run) string {
	source := frame.Quoted(r.SourceKey)
	switch r.Cause {
	case workflows.SegmentEntered:
		return "came into the segment " + source
	case workflows.ActivityTriggered:
		return "did the activity " + source
	case workflows.EventTriggered:
		return "had the event " + source
	case workflows.DateReached:
		return "reached the date in " + source
	case workflows.BackEnrolled:
		return "was there before the activation, by " + source
	}
	return "entered by " + source
}

// ExitWords says how a run ended.
func ExitWords(of engine.EventType, kind engine.ExitKind, name string) string {
	switch {
	case of == engine.RunFailed:
		return "A step failed, and its repetitions too"
	case kind == engine.ByName:
		return "Left by the exit " + frame.Quoted(name)
	case kind == engine.ByHoldOut:
		return "Held out as a control group"
	case kind == engine.ByCancel:
		return "A person cancelled a message"
	case kind == engine.ByArchive:
		return "The workflow or the contact was archived"
	case kind == engine.ByStep:
		return "Came to a step “exit”"
	}
	return "Passed the last step"
}

// reasons say why a message was filtered.
var reasons = map[engine.Reason]string{
	engine.Capped: "the contact has got as many messages as the limit allows", engine.Suppressed: "the address is suppressed",
	engine.UnsubscribedAll: "the contact opted out of all mail", engine.OptedOut: "the contact opted out of the topic",
}

// RunState returns the state of a run in words.
func RunState(run workflows.Run) State {
	if run.State.Status == engine.Active && run.State.Phase == engine.Held {
		return State{"Waits for approval", ""}
	}
	return RunStatuses[run.State.Status]
}

// WhereWords says where a run is, or how it ended.
func WhereWords(run workflows.Run, words map[string]string) string {
	if run.State.IsOver() {
		of := map[engine.Status]engine.EventType{engine.Exited: engine.RunExited, engine.Completed: engine.RunCompleted, engine.Failed: engine.RunFailed}
		return ExitWords(of[run.State.Status], run.ExitKind, run.ExitName)
	}
	if run.State.Node == "" {
		return "Before the first step"
	}
	if words[run.State.Node] == "" {
		return "Step " + run.State.Node
	}
	return words[run.State.Node]
}

// Moment returns an instant as text, in UTC.
func Moment(t time.Time) string { return t.UTC().Format(frame.MomentLayout) }
