package simulation

import (
	"fmt"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/workflows/engine"
	"github.com/mailhelm/mailhelm/core/workflows/language"
)

// narrator turns the events of a run into the steps of a dry run.
type narrator struct {
	plan  *engine.Plan
	steps []Step
	// waits has the times at which current waits began, by path.
	waits map[string]time.Time
}

func (n *narrator) add(path string, action Action, detail string) {
	n.steps = append(n.steps, Step{path, n.plan.Step(path).Type(), action, detail})
}

// tell adds the steps for what a call of Advance did.
func (n *narrator) tell(_ time.Time, moved engine.Moved) {
	for i, e := range moved.Events {
		var next engine.Event
		if i+1 < len(moved.Events) {
			next = moved.Events[i+1]
		}
		n.event(e, next)
	}
	for _, effect := range moved.Effects {
		if message, ok := effect.(*engine.Message); ok { // always the last effect of a call
			n.add(message.Path, WouldSend, sendWords(message))
		}
	}
}

// event adds the steps for an event. next is the event after it, with its zero value if there is
// none.
func (n *narrator) event(e, next engine.Event) {
	switch e.Type {
	case engine.StepEntered:
		n.entered(e, next)
	case engine.WaitStarted:
		n.waits[e.Path] = e.At
	case engine.WaitMet, engine.WaitTimedOut:
		n.waited(e, next)
	case engine.SendFiltered:
		n.add(e.Path, WouldSkip, filterWords[e.Reason])
	case engine.RunExited, engine.RunCompleted, engine.RunFailed:
		n.ended(e)
	}
}

// entered adds the steps for the beginning of a step. Waits and sends get theirs later.
func (n *narrator) entered(e, next engine.Event) {
	switch s := n.plan.Step(e.Path).(type) {
	case *language.If:
		n.add(e.Path, MatchedBranch, branchWords(s, e.Detail))
	case *language.Split:
		for i, arm := range language.Arms(s) {
			if arm.Label == e.Arm {
				n.add(e.Path, EnteredArm, fmt.Sprintf("%s, %d%%", e.Arm, s.Shares[i].Percent))
			}
		}
	case *language.HoldOut:
		if next.Type != engine.RunExited || next.Kind != engine.ByHoldOut {
			n.add(e.Path, EnteredArm, fmt.Sprintf("not held out, as %d%% of the contacts", 100-s.Percent))
		}
	case *language.SetAttribute:
		n.add(e.Path, WouldSet, assignmentWords(s, e.At))
	case *language.AddToList:
		n.add(e.Path, WouldAdd, "list "+predicate.StringLiteral(s.Key))
	case *language.WaitUntil:
		if next.Type != engine.WaitStarted {
			n.add(e.Path, Waited, "not at all: "+dateWords(s)+" is over or unknown")
		}
	case *language.Repeat:
		if next.Type != engine.WaitStarted {
			n.add(e.Path, MatchedBranch, "no pass: "+s.Until.String())
		}
	}
}

// waited adds the steps for the end of a wait.
func (n *narrator) waited(e, next engine.Event) {
	began := n.waits[e.Path]
	delete(n.waits, e.Path)
	passed := passedWords(began, e.At)
	switch s := n.plan.Step(e.Path).(type) {
	case *language.WaitUntil:
		n.add(e.Path, Waited, passed+" ("+dateWords(s)+")")
	case *language.WaitFor:
		if e.Type == engine.WaitMet {
			n.add(e.Path, Waited, joined(passed, "the condition holds: "+s.Until.String()))
			return
		}
		n.add(e.Path, Waited, joined(passed, "the condition does not hold: "+s.Until.String()))
		if len(s.Timeout.Steps) > 0 {
			n.add(e.Path, EnteredArm, "timeout")
		}
	case *language.Repeat:
		n.add(e.Path, Waited, passed)
		switch {
		case strings.HasPrefix(next.Path, e.Path+".body."):
			n.add(e.Path, EnteredArm, fmt.Sprintf("pass %d of at most %d", next.Iteration, s.Times))
		case s.Until != nil && len(s.Body.Steps) > 0 && next.Type != "":
			n.add(e.Path, MatchedBranch, "no further pass: "+s.Until.String())
		}
	default:
		n.add(e.Path, Waited, passed)
	}
}

// delay adds the step for a send that waits for its window until the time.
func (n *narrator) delay(state engine.State, now, until time.Time) {
	if state.Phase == engine.Delayed {
		n.add(state.Node, Waited, joined(passedWords(now, until), "the send window is closed"))
	}
}

// ended adds the step for the end of the run. A run that passes its last step has none.
func (n *narrator) ended(e engine.Event) {
	switch {
	case e.Type == engine.RunFailed:
		n.add(e.Path, Exited, e.Detail)
	case e.Kind == engine.ByStep:
		n.add(e.Path, Exited, "the workflow ends here")
	case e.Kind == engine.ByHoldOut:
		n.add(e.Path, HeldOut, fmt.Sprintf("as %d%% of the contacts", n.plan.Step(e.Path).(*language.HoldOut).Percent))
	case e.Kind == engine.ByName:
		for _, exit := range n.plan.Settings().Exits {
			if exit.Name == e.Exit {
				n.add(e.Path, Exited, predicate.StringLiteral(exit.Name)+": "+exit.When.String())
			}
		}
	}
}
