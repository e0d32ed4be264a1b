package engine

import (
	"strconv"

	"github.com/mailhelm/mailhelm/core/workflows/language"
)

func itoa(n int) string { return strconv.Itoa(n) }

// MaxSteps is the number of steps that a call of Advance takes at most. A run that could go on
// is at the beginning of its next step, and has its WakeAt at the time of the call.
const MaxSteps = 64

// Moved is what Advance did.
type Moved struct {
	State   State
	Events  []Event
	Effects []Effect
	// Steps is the number of steps that began or ended.
	Steps int
}

// Advance takes the next steps of a run, until it waits or has ended. It may be called at any
// time: a run whose wait is not over stays where it is. A run that waits for a person or for the
// account moves only after its Phase was changed.
func (p *Plan) Advance(state State, facts Facts) Moved {
	m := &motion{plan: p, facts: facts, Moved: Moved{State: state.clone()}}
	if state.IsOver() {
		return m.Moved
	}
	m.State.WakeAt, m.State.OnChange = noTime, false
	m.run()
	return m.Moved
}

// motion is one call of Advance.
type motion struct {
	plan  *Plan
	facts Facts
	Moved
}

// run takes steps until one of them has to wait.
func (m *motion) run() {
	if m.facts.Subject == nil {
		m.exit(ByArchive, "")
		return
	}
	at, known := m.plan.at[m.State.Node]
	switch {
	case m.State.Node == "":
		at = 0 // a workflow has at least one step
	case !known:
		m.fail("the step " + m.State.Node + " does not exist in this version of the workflow")
		return
	}
	for goes := true; goes; {
		if m.Steps == MaxSteps && at != end {
			m.State.Node, m.State.WakeAt = m.plan.steps[at].path, m.facts.Now
			return
		}
		m.Steps++
		at, goes = m.step(at)
	}
}

// step begins or continues the step with the index. goes is true if the run goes on with the
// step next.
func (m *motion) step(at int) (next int, goes bool) {
	if at == end {
		m.complete("")
		return end, false
	}
	planned := m.plan.steps[at]
	m.State.Node = planned.path
	arm := noArm
	if m.State.Phase == Entering {
		if m.leaves() {
			return end, false
		}
		if _, again := m.State.Passes[planned.path]; !again { // it is no repeat that goes on
			entered := Event{Type: StepEntered}
			arm = m.enterArm(planned, &entered)
			m.event(entered)
		}
	}
	next, goes = m.perform(planned, arm)
	if goes {
		m.State.Phase, m.State.Until, m.State.Passed = Entering, noTime, false
	}
	return next, goes
}

// perform does the work of a step. arm is the arm that the contact takes, see enterArm.
func (m *motion) perform(of planned, arm int) (next int, goes bool) {
	switch s := of.step.(type) {
	case *language.Send:
		return m.send(of, s)
	case *language.Wait:
		return of.next, m.wait(s)
	case *language.WaitUntil:
		return of.next, m.waitUntil(s)
	case *language.WaitFor:
		return m.waitFor(of, s)
	case *language.If, *language.Split:
		if arm == noArm {
			return of.next, true
		}
		return of.arms[arm], true
	case *language.HoldOut:
		return of.next, m.holdOut(of.path, s)
	case *language.Repeat:
		return m.repeat(of, s)
	case *language.SetAttribute:
		m.assign(s)
	case *language.AddToList:
		m.join(s)
	case *language.Leave:
		m.complete(ByStep)
		return end, false
	}
	return of.next, true
}

// leaves ends the run if a named exit matches, and reports whether one does.
func (m *motion) leaves() bool {
	exit := m.plan.exitOf(*m.facts.Subject, m.facts.Now)
	if exit == nil {
		return false
	}
	m.exit(ByName, exit.Name)
	return true
}

// event adds an event of the current step.
func (m *motion) event(e Event) {
	e.Path, e.At = m.State.Node, m.facts.Now
	if at, known := m.plan.at[e.Path]; known {
		if loops := m.plan.steps[at].loops; len(loops) > 0 {
			e.Iteration = m.State.Passes[loops[len(loops)-1]]
		}
	}
	m.Events = append(m.Events, e)
}

func (m *motion) exit(kind ExitKind, name string) {
	m.event(Event{Type: RunExited, Kind: kind, Exit: name})
	m.over(Exited)
}

func (m *motion) complete(kind ExitKind) {
	m.event(Event{Type: RunCompleted, Kind: kind})
	m.over(Completed)
}

func (m *motion) fail(cause string) {
	m.event(Event{Type: RunFailed, Detail: cause})
	m.over(Failed)
}

func (m *motion) over(status Status) {
	m.State.Status, m.State.Phase, m.State.Until, m.State.Passed, m.State.Passes = status, Entering, noTime, false, nil
}
