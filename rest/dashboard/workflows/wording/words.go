package wording

import (
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/workflows/engine"
)

// State is the status of a workflow or a run in words, with the class of its mark.
type State struct{ Name, Mark string }

// RunStatuses are the statuses of runs in words.
var RunStatuses = map[engine.Status]State{
	engine.Active: {"Under way", "live"}, engine.Completed: {"Completed", "good"}, engine.Exited: {"Left", "test"}, engine.Failed: {"Failed", "ended"},
}

// RunOrder has the statuses of runs in the order in which pages show them.
var RunOrder = []engine.Status{engine.Active, engine.Completed, engine.Exited, engine.Failed}

// ExitWords says how a run ended.
func ExitWords(of engine.EventType, kind engine.ExitKind, name string) string {
	switch {
	case of == engine.RunFailed:
		return "A step failed, and its repetitions too"
	case kind == engine.ByName:
		return "Left by the exit " + quoted(name)
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
func RunState(s engine.State) State {
	if s.Status == engine.Active && s.Phase == engine.Held {
		return State{"Waits for approval", ""}
	}
	return RunStatuses[s.Status]
}

// WhereWords says where a run is, or how it ended.
func WhereWords(s engine.State, kind engine.ExitKind, exit string, words map[string]string) string {
	if s.IsOver() {
		of := map[engine.Status]engine.EventType{engine.Exited: engine.RunExited, engine.Completed: engine.RunCompleted, engine.Failed: engine.RunFailed}
		return ExitWords(of[s.Status], kind, exit)
	}
	if s.Node == "" {
		return "Before the first step"
	}
	if words[s.Node] == "" {
		return "Step " + s.Node
	}
	return words[s.Node]
}

// Moment returns an instant as text, in UTC.
func Moment(t time.Time) string { return t.UTC().Format(momentLayout) }

// momentLayout is that of package frame, which this package does not import.
const momentLayout = "2006-01-02 15:04 UTC"

// quoted returns a text of another person in quotation marks.
func quoted(text string) string { return "“" + core.OnlyVisible(text) + "”" }
