package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/workflows/engine"
	"github.com/mailhelm/mailhelm/core/workflows/language"
)

// noon is the time at which runs of the tests begin, a Monday.
var noon = time.Date(2026, 6, 15, 12, 0, 0, 0, time.UTC)

// schema has the names that the sources of the tests use.
var schema = language.Schema{Schema: predicate.Schema{
	Attributes: map[string]predicate.AttributeType{
		"plan": {Type: predicate.Enum, EnumValues: []string{"free", "pro"}}, "city": {Type: predicate.String},
		"visits": {Type: predicate.Number}, "vip": {Type: predicate.Bool},
		"renewal": {Type: predicate.Datetime}, "timezone": {Type: predicate.String},
	},
	Topics:   map[string]bool{"news": true, "offers": false},
	Lists:    map[string]string{"vip": "list-1", "beta": "list-2"},
	Segments: map[string]string{"new-customers": "segment-1", "customers": "segment-2"},
}}

// compile returns the plan of a workflow with these settings and steps after a trigger.
func compile(t testing.TB, statements string) *engine.Plan {
	t.Helper()
	return compileSource(t, "workflow \"W\" v1 {\nenter on activity.signup\n"+statements+"\n}\n")
}

func compileSource(t testing.TB, source string) *engine.Plan {
	t.Helper()
	checked, err := language.Compile(source, schema)
	if err != nil {
		t.Fatalf("%v\n%s", err, source)
	}
	return engine.Compile(checked)
}

// journey is a run of one contact, which a test moves step by step.
type journey struct {
	t     testing.TB
	plan  *engine.Plan
	state engine.State
	facts engine.Facts
	start time.Time
	// mailed has the times of messages to the contact.
	mailed  []time.Time
	lines   []string
	effects []engine.Effect
	// steps is that of the last call of Advance.
	steps int
}

// begin returns a run at noon that has not taken its first step.
func begin(t testing.TB, statements string) *journey {
	return beginAt(t, noon, statements)
}

func beginAt(t testing.TB, start time.Time, statements string) *journey {
	t.Helper()
	j := &journey{t: t, plan: compile(t, statements), state: engine.Begin(start), start: start}
	j.facts = engine.Facts{WorkflowID: "workflow-1", ContactID: "contact-1", Now: start, Subject: &predicate.Subject{Email: "ann@example.com"}}
	j.facts.Mailed = func(since time.Time) int {
		n := 0
		for _, at := range j.mailed {
			if !at.Before(since) {
				n++
			}
		}
		return n
	}
	return j
}

// advance calls Advance at the current time. It adds its events and effects to the lines.
func (j *journey) advance() *journey {
	before := j.state
	moved := j.plan.Advance(j.state, j.facts)
	j.state, j.steps = moved.State, moved.Steps
	for _, e := range moved.Events {
		j.lines = append(j.lines, j.line(e))
		if !e.At.Equal(j.facts.Now) {
			j.t.Errorf("the event %s is of %v at %v", e.Type, e.At, j.facts.Now)
		}
	}
	for _, e := range moved.Effects {
		j.effects = append(j.effects, e)
		j.lines = append(j.lines, j.offset()+" "+effectWords(e))
	}
	if before.IsOver() && (len(moved.Events) > 0 || len(moved.Effects) > 0) {
		j.t.Errorf("a run that is over moved: %v", moved)
	}
	return j
}

// after lets time pass and then advances.
func (j *journey) after(d time.Duration) *journey {
	j.facts.Now = j.facts.Now.Add(d)
	return j.advance()
}

// awake advances at the time at which the timer of the run ends.
func (j *journey) awake() *journey {
	if j.state.WakeAt.IsZero() {
		j.t.Fatalf("the run has no timer: %+v\n%s", j.state, strings.Join(j.lines, "\n"))
	}
	j.facts.Now = j.state.WakeAt
	return j.advance()
}

// decide stores the decision about a held send, or the outcome of a message, and advances.
func (j *journey) decide(phase engine.Phase) *journey {
	j.state.Phase = phase
	return j.advance()
}

// sent stores that the message of the run was sent, and advances.
func (j *journey) sent() *journey {
	if j.state.Phase != engine.Sending {
		j.t.Fatalf("the run is not sending: %+v", j.state)
	}
	j.mailed = append(j.mailed, j.facts.Now)
	return j.decide(engine.Sent)
}

func (j *journey) offset() string { return j.facts.Now.Sub(j.start).String() }

// line returns an event in the form "72h0m0s 0 wait_met".
func (j *journey) line(e engine.Event) string {
	line := j.offset() + " " + e.Path
	if e.Iteration > 0 {
		line += fmt.Sprintf("#%d", e.Iteration)
	}
	for _, part := range []string{string(e.Type), e.Arm, string(e.Tier), string(e.Reason), string(e.Kind), e.Exit, e.Detail} {
		if part != "" {
			line += " " + part
		}
	}
	return line
}

func effectWords(e engine.Effect) string {
	switch e := e.(type) {
	case *engine.Message:
		return strings.TrimSpace(fmt.Sprintf("-> send %s from %s %s", e.Template, e.Path, map[bool]string{true: "transactional"}[e.Transactional]) + e.Topic)
	case *engine.Assignment:
		return fmt.Sprintf("-> set %s = %v", e.Attribute, valueWords(e.Value))
	case *engine.Joining:
		return "-> join " + e.ListID
	}
	return "unknown effect"
}

func valueWords(v predicate.Value) any {
	switch v.Type {
	case predicate.Number:
		return v.Number
	case predicate.Bool:
		return v.Bool
	case predicate.Datetime:
		return time.UnixMicro(v.Moment.Micros).UTC().Format(time.RFC3339)
	}
	return v.Text
}

// want compares the lines so far with those of a text, whose indentation does not matter.
func (j *journey) want(text string) *journey {
	j.t.Helper()
	var want []string
	for line := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		want = append(want, strings.TrimSpace(line))
	}
	if !slices.Equal(j.lines, want) {
		j.t.Errorf("got:\n%s\nwant:\n%s", strings.Join(j.lines, "\n"), strings.Join(want, "\n"))
	}
	return j
}

// wantPhase compares where the run is.
func (j *journey) wantPhase(node string, phase engine.Phase) *journey {
	j.t.Helper()
	if j.state.Node != node || j.state.Phase != phase {
		j.t.Errorf("the run is at %q in the phase %q, want %q and %q", j.state.Node, j.state.Phase, node, phase)
	}
	return j
}

// wantWake compares the time until the timer ends, counted from the beginning of the run.
func (j *journey) wantWake(after time.Duration, onChange bool) *journey {
	j.t.Helper()
	if got := j.state.WakeAt.Sub(j.start); got != after || j.state.OnChange != onChange {
		j.t.Errorf("the run wakes after %v, on change %t; want %v, %t", got, j.state.OnChange, after, onChange)
	}
	return j
}

// wantNoTimer checks that no timer and no change wakes the run.
func (j *journey) wantNoTimer() *journey {
	j.t.Helper()
	if !j.state.WakeAt.IsZero() || j.state.OnChange {
		j.t.Errorf("the run wakes at %v, on change %t; want no timer", j.state.WakeAt, j.state.OnChange)
	}
	return j
}

// wantStatus compares the status.
func (j *journey) wantStatus(want engine.Status) *journey {
	j.t.Helper()
	if j.state.Status != want {
		j.t.Errorf("the run is %s, want %s", j.state.Status, want)
	}
	return j
}

func (j *journey) set(name string, v predicate.Value) *journey {
	if j.facts.Subject.Attributes == nil {
		j.facts.Subject.Attributes = map[string]predicate.Value{}
	}
	j.facts.Subject.Attributes[name] = v
	return j
}

func date(t time.Time) predicate.Value {
	return predicate.Value{Type: predicate.Datetime, Moment: predicate.Moment{Micros: t.UnixMicro()}}
}

// happened adds an activity of now.
func (j *journey) happened(activity string) *journey {
	j.facts.Subject.Events = append(j.facts.Subject.Events, predicate.Occurrence{
		Event: predicate.Event{Kind: predicate.ActivityEvent, Activity: activity}, At: j.facts.Now.UnixMicro(),
	})
	return j
}
