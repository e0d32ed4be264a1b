package engine_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core/workflows/engine"
	"github.com/mailhelm/mailhelm/core/workflows/engine/enginetest"
	"github.com/mailhelm/mailhelm/core/workflows/language"
	"pgregory.net/rapid"
)

// TestEngineDoesWhatTheModelDoes lets random contacts run through random workflows, in the engine and in the
// model, and compares all events, effects and timers.
func TestEngineDoesWhatTheModelDoes(t *testing.T) {
	t.Parallel()
	seen := map[engine.EventType]int{}
	rapid.Check(t, func(rt *rapid.T) {
		source := enginetest.Source(rt, 25, "")
		plan := compileSource(t, source)
		for contact := range 40 {
			p := newPair(rt, t, plan, fmt.Sprintf("contact-%d", contact))
			for wake := 0; wake < 60 && !p.model.Over; wake++ {
				p.wake(rt)
				p.compare(rt, source)
			}
			p.model.Stop()
			for _, e := range p.model.Events {
				seen[e.Type]++
			}
		}
	})
	for _, want := range []engine.EventType{
		engine.StepEntered, engine.WaitStarted, engine.WaitMet, engine.WaitTimedOut, engine.SendFiltered,
		engine.SendHeld, engine.SendSkipped, engine.RunExited, engine.RunCompleted,
	} {
		if seen[want] == 0 && !t.Failed() {
			t.Errorf("no run had the event %s, so the test shows less than it should", want)
		}
	}
}

// pair is a run of the same contact in the engine and in the model.
type pair struct {
	run   *journey
	model *enginetest.Model
	// events are those of the engine.
	events []engine.Event
}

func newPair(rt *rapid.T, t *testing.T, plan *engine.Plan, contactID string) *pair {
	run := &journey{t: t, plan: plan, state: engine.Begin(noon), start: noon}
	m := &enginetest.Model{Checked: plan.Checked(), Schema: schema.Schema, Subject: emptySubject(), Now: noon}
	run.facts = engine.Facts{WorkflowID: "workflow-1", ContactID: contactID, Now: noon, Subject: emptySubject(), Hold: rapid.IntRange(0, 3).Draw(rt, "hold") == 0}
	run.facts.Mailed = func(since time.Time) int {
		return len(slices.DeleteFunc(slices.Clone(m.Mailed), func(at time.Time) bool { return at.Before(since) }))
	}
	m.Hold = run.facts.Hold
	m.IsHeldOut = func(path string, percent int) bool { return chosen(plan, path, contactID) < percent }
	m.ShareOf = func(path string, shares []language.Share) int {
		point, upTo := chosen(plan, path, contactID), 0
		for i, share := range shares {
			if upTo += share.Percent; point < upTo {
				return i
			}
		}
		return -1
	}
	p := &pair{run: run, model: m}
	m.Start()
	for range rapid.IntRange(0, 6).Draw(rt, "data") {
		p.change(changes().Draw(rt, "change"))
	}
	return p
}

// chosen returns a number from 0 to 99 that decides the cohort of the contact at a step, as the
// engine chooses it.
func chosen(plan *engine.Plan, path, contactID string) int {
	kind := "split"
	if _, isHoldOut := plan.Step(path).(*language.HoldOut); isHoldOut {
		kind = "hold out"
	}
	return engine.Cohort(kind, "workflow-1", path, contactID)
}

func (p *pair) change(change change) {
	change(p.run.facts.Subject, p.run.facts.Now)
	change(p.model.Subject, p.model.Now)
}

// wake lets time pass, changes data, decides what waits for a decision, and continues both runs.
func (p *pair) wake(rt *rapid.T) {
	now := p.run.facts.Now
	switch wakes := p.run.state.WakeAt; rapid.IntRange(0, 9).Draw(rt, "time") {
	case 0:
	case 1:
		now = now.Add(time.Duration(rapid.IntRange(1, 10*86400).Draw(rt, "seconds")) * time.Second)
	case 2:
		now = now.Add(time.Duration(rapid.IntRange(1, 7200).Draw(rt, "seconds")) * time.Second)
	default:
		if wakes.After(now) {
			now = wakes
		}
	}
	p.run.facts.Now, p.model.Now = now, now
	for range rapid.SampledFrom([]int{0, 0, 0, 1, 2}).Draw(rt, "changes") {
		p.change(changes().Draw(rt, "change"))
	}
	if rapid.IntRange(0, 30).Draw(rt, "hold") == 0 {
		p.run.facts.Hold, p.model.Hold = !p.model.Hold, !p.model.Hold
	}
	if rapid.IntRange(0, 60).Draw(rt, "archive") == 0 {
		p.run.facts.Subject, p.model.Subject = nil, nil
	}
	if p.model.Held && rapid.Bool().Draw(rt, "decide") {
		decision := rapid.SampledFrom([]engine.Phase{engine.Approved, engine.Approved, engine.Skipped, engine.Cancelled}).Draw(rt, "decision")
		p.run.state.Phase, p.model.Decision = decision, decision
	}
	if p.model.Sending && rapid.IntRange(0, 3).Draw(rt, "outcome") > 0 {
		p.model.Mailed = append(p.model.Mailed, now)
		p.run.state.Phase, p.model.Sent = engine.Sent, true
	}
	p.model.Resume()
	for again := true; again; again = p.run.steps == engine.MaxSteps && !p.run.state.IsOver() && p.run.state.WakeAt.Equal(now) {
		moved := p.run.plan.Advance(p.run.state, p.run.facts)
		p.run.state, p.run.steps = moved.State, moved.Steps
		p.events = append(p.events, moved.Events...)
		p.run.effects = append(p.run.effects, moved.Effects...)
	}
}

// compare compares both runs.
func (p *pair) compare(rt *rapid.T, source string) {
	state, m := p.run.state, p.model
	effects, want := allWords(p.run.effects), allWords(m.Effects)
	fault := ""
	switch {
	case !reflect.DeepEqual(p.events, m.Events):
		fault = "the events differ"
	case !slices.Equal(effects, want):
		fault = "the effects differ"
	case !reflect.DeepEqual(p.run.facts.Subject, m.Subject):
		fault = fmt.Sprintf("the contacts differ: %+v and %+v", p.run.facts.Subject, m.Subject)
	case state.IsOver() != m.Over, (state.Phase == engine.Held) != m.Held, (state.Phase == engine.Sending) != m.Sending:
		fault = fmt.Sprintf("the states differ: %+v; model over %t, held %t, sending %t", state, m.Over, m.Held, m.Sending)
	case state.OnChange != m.OnChange, !p.wakesInTime():
		fault = fmt.Sprintf("the timers differ: %v, on change %t; model %v, %t", state.WakeAt, state.OnChange, m.Wake, m.OnChange)
	case state.Node != m.Path:
		fault = fmt.Sprintf("the paths differ: %s, model %s", state.Node, m.Path)
	}
	if fault == "" {
		return
	}
	rt.Fatalf("at %v %s\n%s\nengine:\n%s\n%v\nmodel:\n%s\n%v", m.Now, fault, source, p.timeline(p.events), effects, p.timeline(m.Events), want)
}

// wakesInTime compares the timers. A run that waits for a condition may wake earlier.
func (p *pair) wakesInTime() bool {
	state, m := p.run.state, p.model
	if _, early := p.run.plan.Step(state.Node).(*language.WaitFor); early && state.Phase == engine.Waiting {
		return state.WakeAt.After(m.Now) && !state.WakeAt.After(m.Wake)
	}
	return state.WakeAt.Equal(m.Wake)
}

func (p *pair) timeline(events []engine.Event) string {
	var lines []string
	for _, e := range events {
		lines = append(lines, e.At.Format(time.RFC3339)+" "+p.run.line(e))
	}
	return strings.Join(lines, "\n")
}

func allWords(effects []engine.Effect) []string {
	words := make([]string, len(effects))
	for i, e := range effects {
		words[i] = effectWords(e)
	}
	return words
}
