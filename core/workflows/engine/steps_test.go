package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/workflows/engine"
)

const day = 24 * time.Hour

// stepCases has what runs do with each type of step.
var stepCases = map[string]struct {
	statements string
	acts       func(j *journey)
	want       string
}{
	"set and add": {
		"set attr.plan = \"pro\"\nset attr.visits = -2.5\nset attr.vip = true\nset attr.renewal = 2027-01-01\nset attr.renewal = now + 3d\nset attr.renewal = now\nadd to list \"vip\"\n" +
			"if attr.plan = \"pro\" and attr.visits < 0 and attr.vip = true and attr.renewal <= now and in list \"vip\" {\nexit\n}",
		func(j *journey) { j.advance() },
		`0s 0 step_entered
			0s 1 step_entered
			0s 2 step_entered
			0s 3 step_entered
			0s 4 step_entered
			0s 5 step_entered
			0s 6 step_entered
			0s 7 step_entered then
			0s 7.then.0 step_entered
			0s 7.then.0 completed step
			0s -> set plan = pro
			0s -> set visits = -2.5
			0s -> set vip = true
			0s -> set renewal = 2027-01-01T00:00:00Z
			0s -> set renewal = 2026-06-18T12:00:00Z
			0s -> set renewal = 2026-06-15T12:00:00Z
			0s -> join list-1`,
	},
	"exit": {
		"exit\nset attr.vip = true",
		func(j *journey) { j.advance().wantStatus(engine.Completed).after(day) },
		`0s 0 step_entered
			0s 0 completed step`,
	},
	"end of the steps": {
		"add to list \"vip\"",
		func(j *journey) {
			j.advance().wantStatus(engine.Completed).wantPhase("0", engine.Entering).wantNoTimer()
		},
		`0s 0 step_entered
			0s 0 completed
			0s -> join list-1`,
	},
	"if, first arm": {
		"if attr.visits > 3 {\nset attr.vip = true\n} else if attr.visits > 1 {\nset attr.vip = false\n} else {\nexit\n}\nadd to list \"vip\"",
		func(j *journey) { j.set("visits", predicate.NumberValue(5)).advance() },
		`0s 0 step_entered then
			0s 0.then.0 step_entered
			0s 1 step_entered
			0s 1 completed
			0s -> set vip = true
			0s -> join list-1`,
	},
	"if, second arm": {
		"if attr.visits > 3 {\nset attr.vip = true\n} else if attr.visits > 1 {\nset attr.vip = false\n} else {\nexit\n}\nadd to list \"vip\"",
		func(j *journey) { j.set("visits", predicate.NumberValue(2)).advance() },
		`0s 0 step_entered elseif1
			0s 0.elseif1.0 step_entered
			0s 1 step_entered
			0s 1 completed
			0s -> set vip = false
			0s -> join list-1`,
	},
	"if, else because of unknown": {
		"if attr.visits > 3 {\nset attr.vip = true\n} else if not attr.visits > 3 {\nset attr.vip = false\n} else {\nexit\n}\nadd to list \"vip\"",
		func(j *journey) { j.advance() },
		`0s 0 step_entered else
			0s 0.else.0 step_entered
			0s 0.else.0 completed step`,
	},
	"if, no arm, and empty arms": {
		"if suppressed {\nexit\n}\nif not suppressed {\n} else {\nexit\n}\nif suppressed {\n} else {\n}\nadd to list \"vip\"",
		func(j *journey) { j.advance() },
		`0s 0 step_entered
			0s 1 step_entered then
			0s 2 step_entered else
			0s 3 step_entered
			0s 3 completed
			0s -> join list-1`,
	},
	"wait": {
		"wait 3 days\nadd to list \"vip\"",
		func(j *journey) {
			j.advance().wantPhase("0", engine.Waiting).wantWake(3*day, false)
			j.after(day).wantPhase("0", engine.Waiting).wantWake(3*day, false).awake()
		},
		`0s 0 step_entered
			0s 0 wait_started until 2026-06-18T12:00:00Z
			72h0m0s 0 wait_met
			72h0m0s 1 step_entered
			72h0m0s 1 completed
			72h0m0s -> join list-1`,
	},
	"wait, woken late": {
		"wait 1 hour\nwait 1 month",
		func(j *journey) { j.advance().after(5*time.Hour).wantWake(5*time.Hour+30*day, false) },
		`0s 0 step_entered
			0s 0 wait_started until 2026-06-15T13:00:00Z
			5h0m0s 0 wait_met
			5h0m0s 1 step_entered
			5h0m0s 1 wait_started until 2026-07-15T17:00:00Z`,
	},
	"wait until a date": {
		"wait until 2026-06-01\nwait until 2026-06-16",
		func(j *journey) { j.advance().wantWake(12*time.Hour, false).awake() },
		`0s 0 step_entered
			0s 1 step_entered
			0s 1 wait_started until 2026-06-16T00:00:00Z
			12h0m0s 1 wait_met
			12h0m0s 1 completed`,
	},
	"wait until an attribute, which becomes later and then earlier": {
		"wait until attr.renewal\nexit",
		func(j *journey) {
			j.set("renewal", date(noon.Add(2*day))).advance().wantWake(2*day, true)
			j.set("renewal", date(noon.Add(5*day))).after(day).wantWake(5*day, true)
			j.after(day).wantPhase("0", engine.Waiting).wantWake(5*day, true)
			j.set("renewal", date(noon.Add(time.Hour))).after(day)
		},
		`0s 0 step_entered
			0s 0 wait_started until 2026-06-17T12:00:00Z
			72h0m0s 0 wait_met
			72h0m0s 1 step_entered
			72h0m0s 1 completed step`,
	},
	"wait until an attribute, which is removed": {
		"wait until attr.renewal",
		func(j *journey) {
			j.set("renewal", date(noon.Add(2*day))).advance()
			delete(j.facts.Subject.Attributes, "renewal")
			j.after(time.Hour)
		},
		`0s 0 step_entered
			0s 0 wait_started until 2026-06-17T12:00:00Z
			1h0m0s 0 wait_met
			1h0m0s 0 completed`,
	},
	"wait until an attribute that is over, unknown or of another type": {
		"wait until attr.renewal\nset attr.renewal = now - 1d\nwait until attr.renewal",
		func(j *journey) { j.set("renewal", predicate.StringValue("2030-01-01")).advance() },
		`0s 0 step_entered
			0s 1 step_entered
			0s 2 step_entered
			0s 2 completed
			0s -> set renewal = 2026-06-14T12:00:00Z`,
	},
	"wait for a condition that holds at once": {
		"wait up to 2 weeks until not suppressed {\ntimeout:\nexit\n}",
		func(j *journey) { j.advance().wantStatus(engine.Completed) },
		`0s 0 step_entered
			0s 0 wait_started until 2026-06-29T12:00:00Z
			0s 0 wait_met
			0s 0 completed`,
	},
	"wait for an event": {
		"wait up to 2 weeks until exists(activity.purchase) {\ntimeout:\nexit\n}\nadd to list \"vip\"",
		func(j *journey) {
			j.advance().wantPhase("0", engine.Waiting).wantWake(14*day, true)
			j.after(day).wantWake(14*day, true).happened("purchase").after(day)
		},
		`0s 0 step_entered
			0s 0 wait_started until 2026-06-29T12:00:00Z
			48h0m0s 0 wait_met
			48h0m0s 1 step_entered
			48h0m0s 1 completed
			48h0m0s -> join list-1`,
	},
	"wait for a condition with a timeout": {
		"wait up to 2 weeks until exists(activity.purchase) {\ntimeout:\nset attr.vip = false\n}\nadd to list \"vip\"",
		func(j *journey) { j.advance().awake() },
		`0s 0 step_entered
			0s 0 wait_started until 2026-06-29T12:00:00Z
			336h0m0s 0 wait_timed_out
			336h0m0s 0.timeout.0 step_entered
			336h0m0s 1 step_entered
			336h0m0s 1 completed
			336h0m0s -> set vip = false
			336h0m0s -> join list-1`,
	},
	"wait for a condition without a timeout": {
		"wait up to 2 weeks until exists(activity.purchase)\nexit",
		func(j *journey) { j.advance().awake() },
		`0s 0 step_entered
			0s 0 wait_started until 2026-06-29T12:00:00Z
			336h0m0s 0 wait_timed_out
			336h0m0s 1 step_entered
			336h0m0s 1 completed step`,
	},
	"wait for a condition that becomes true at the end": {
		"wait up to 2 weeks until exists(activity.purchase) {\ntimeout:\nset attr.vip = false\n}\nexit",
		func(j *journey) { j.advance().happened("purchase").after(20 * day) },
		`0s 0 step_entered
			0s 0 wait_started until 2026-06-29T12:00:00Z
			480h0m0s 0 wait_met
			480h0m0s 1 step_entered
			480h0m0s 1 completed step`,
	},
	"wait for a condition that becomes true by time": {
		"wait up to 2 weeks until now - attr.renewal >= 1h\nexit",
		func(j *journey) {
			j.set("renewal", date(noon)).advance()
			for j.state.Node == "0" && j.state.Status == engine.Active {
				j.awake()
			}
		},
		`0s 0 step_entered
			0s 0 wait_started until 2026-06-29T12:00:00Z
			1h0m0s 0 wait_met
			1h0m0s 1 step_entered
			1h0m0s 1 completed step`,
	},
}

func TestSteps(t *testing.T) {
	t.Parallel()
	for name, c := range stepCases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := begin(t, c.statements)
			c.acts(j)
			j.want(c.want)
		})
	}
}

// repeatCases has what runs do with repeats.
var repeatCases = map[string]struct {
	statements string
	acts       func(j *journey)
	want       string
}{
	"all passes": {
		"repeat up to 2 every 1 day {\nadd to list \"vip\"\n}\nexit",
		func(j *journey) { j.advance().wantWake(day, false).after(time.Hour).awake().awake() },
		`0s 0 step_entered
			0s 0 wait_started until 2026-06-16T12:00:00Z
			24h0m0s 0 wait_met
			24h0m0s 0.body.0#1 step_entered
			24h0m0s 0 wait_started until 2026-06-17T12:00:00Z
			24h0m0s -> join list-1
			48h0m0s 0 wait_met
			48h0m0s 0.body.0#2 step_entered
			48h0m0s 1 step_entered
			48h0m0s 1 completed step
			48h0m0s -> join list-1`,
	},
	"until holds before the first delay": {
		"repeat up to 2 every 1 day until not suppressed {\nadd to list \"vip\"\n}",
		func(j *journey) { j.advance() },
		`0s 0 step_entered
			0s 0 completed`,
	},
	"until holds during a delay": {
		"repeat up to 3 every 1 day until attr.vip = true {\nadd to list \"vip\"\n}\nexit",
		func(j *journey) {
			j.advance().awake().set("vip", predicate.BoolValue(true)).after(time.Hour).wantPhase("0", engine.Waiting).awake()
		},
		`0s 0 step_entered
			0s 0 wait_started until 2026-06-16T12:00:00Z
			24h0m0s 0 wait_met
			24h0m0s 0.body.0#1 step_entered
			24h0m0s 0 wait_started until 2026-06-17T12:00:00Z
			24h0m0s -> join list-1
			48h0m0s 0 wait_met
			48h0m0s 1 step_entered
			48h0m0s 1 completed step`,
	},
	"until holds after a pass": {
		"repeat up to 3 every 1 day until attr.vip = true {\nset attr.vip = true\n}",
		func(j *journey) { j.advance().awake() },
		`0s 0 step_entered
			0s 0 wait_started until 2026-06-16T12:00:00Z
			24h0m0s 0 wait_met
			24h0m0s 0.body.0#1 step_entered
			24h0m0s 0 completed
			24h0m0s -> set vip = true`,
	},
	"nested": {
		"repeat up to 2 every 2 days {\nrepeat up to 2 every 1 hour until attr.vip = true {\nif suppressed {\nexit\n}\n}\n}",
		func(j *journey) {
			j.advance().awake().awake().awake()
			j.set("vip", predicate.BoolValue(true)).awake()
		},
		`0s 0 step_entered
			0s 0 wait_started until 2026-06-17T12:00:00Z
			48h0m0s 0 wait_met
			48h0m0s 0.body.0#1 step_entered
			48h0m0s 0.body.0#1 wait_started until 2026-06-17T13:00:00Z
			49h0m0s 0.body.0#1 wait_met
			49h0m0s 0.body.0.body.0#1 step_entered
			49h0m0s 0.body.0#1 wait_started until 2026-06-17T14:00:00Z
			50h0m0s 0.body.0#1 wait_met
			50h0m0s 0.body.0.body.0#2 step_entered
			50h0m0s 0 wait_started until 2026-06-19T14:00:00Z
			98h0m0s 0 wait_met
			98h0m0s 0.body.0#2 step_entered
			98h0m0s 0 completed`,
	},
	"empty body": {
		"repeat up to 2 every 1 hour {\n}\nexit",
		func(j *journey) { j.advance().awake().awake() },
		`0s 0 step_entered
			0s 0 wait_started until 2026-06-15T13:00:00Z
			1h0m0s 0 wait_met
			1h0m0s 0 wait_started until 2026-06-15T14:00:00Z
			2h0m0s 0 wait_met
			2h0m0s 1 step_entered
			2h0m0s 1 completed step`,
	},
	"exit from a pass": {
		"repeat up to 9 every 1 hour {\nexit\n}",
		func(j *journey) {
			j.advance().awake().wantStatus(engine.Completed)
			if j.state.Passes != nil {
				j.t.Errorf("an ended run has passes %v", j.state.Passes)
			}
		},
		`0s 0 step_entered
			0s 0 wait_started until 2026-06-15T13:00:00Z
			1h0m0s 0 wait_met
			1h0m0s 0.body.0#1 step_entered
			1h0m0s 0.body.0#1 completed step`,
	},
}

func TestRepeats(t *testing.T) {
	t.Parallel()
	for name, c := range repeatCases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := begin(t, c.statements)
			c.acts(j)
			j.want(c.want)
		})
	}
}

func TestExitsAreTestedBeforeEachStep(t *testing.T) {
	t.Parallel()
	const exits = "exit \"first\" when attr.visits > 5\nexit \"second\" when attr.visits > 3\n"
	visits := predicate.NumberValue(4)
	for name, c := range map[string]struct {
		steps string
		acts  func(j *journey)
		want  string
	}{
		"before the first step": {
			"exit", func(j *journey) { j.set("visits", visits).advance().wantStatus(engine.Exited) },
			"0s 0 exited named second",
		},
		"the first that matches": {
			"exit", func(j *journey) { j.set("visits", predicate.NumberValue(6)).advance() },
			"0s 0 exited named first",
		},
		"after a step that changes the contact": {
			"set attr.visits = 4\nexit", func(j *journey) { j.advance() },
			"0s 0 step_entered\n0s 1 exited named second\n0s -> set visits = 4",
		},
		"after a wait, not during it": {
			"wait 2 days\nexit", func(j *journey) { j.advance().set("visits", visits).after(day).wantStatus(engine.Active).awake() },
			"0s 0 step_entered\n0s 0 wait_started until 2026-06-17T12:00:00Z\n48h0m0s 0 wait_met\n48h0m0s 1 exited named second",
		},
		"not after the last step": {
			"wait 2 days", func(j *journey) { j.advance().set("visits", visits).awake().wantStatus(engine.Completed) },
			"0s 0 step_entered\n0s 0 wait_started until 2026-06-17T12:00:00Z\n48h0m0s 0 wait_met\n48h0m0s 0 completed",
		},
		"before each delay of a repeat": {
			"repeat up to 3 every 1 day {\nset attr.visits = 4\n}", func(j *journey) { j.advance().awake() },
			"0s 0 step_entered\n0s 0 wait_started until 2026-06-16T12:00:00Z\n24h0m0s 0 wait_met\n24h0m0s 0.body.0#1 step_entered\n24h0m0s 0 exited named second\n24h0m0s -> set visits = 4",
		},
		"after a message": {
			"send \"a\"\nexit", func(j *journey) { j.advance().set("visits", visits).sent() },
			"0s 0 step_entered\n0s -> send a from 0\n0s 1 exited named second",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := begin(t, exits+c.steps)
			c.acts(j)
			j.want(c.want)
		})
	}
}

func TestArchivedContact(t *testing.T) {
	t.Parallel()
	j := begin(t, "wait 2 days\nexit").advance()
	j.facts.Subject = nil
	j.after(time.Hour).wantStatus(engine.Exited).wantNoTimer()
	j.want("0s 0 step_entered\n0s 0 wait_started until 2026-06-17T12:00:00Z\n1h0m0s 0 exited archived")

	j = begin(t, "exit")
	j.facts.Subject = nil
	j.advance().want("0s  exited archived")
}

func TestUnknownStep(t *testing.T) {
	t.Parallel()
	j := begin(t, "exit")
	j.state.Node = "7.then.0"
	j.advance().wantStatus(engine.Failed)
	j.want("0s 7.then.0 failed the step 7.then.0 does not exist in this version of the workflow")
}

// TestMaxSteps checks that a run with more steps than a call takes goes on with the next step.
func TestMaxSteps(t *testing.T) {
	t.Parallel()
	const steps = 150
	j := begin(t, strings.Repeat("add to list \"vip\"\n", steps))
	for calls := 0; j.state.Status == engine.Active; calls++ {
		if calls > 5 {
			t.Fatalf("the run does not end: %+v", j.state)
		}
		j.advance()
		if j.steps > engine.MaxSteps {
			t.Errorf("a call took %d steps", j.steps)
		}
		if j.state.Status == engine.Active {
			j.wantWake(0, false)
		}
	}
	if len(j.effects) != steps {
		t.Errorf("the %d steps had %d effects", steps, len(j.effects))
	}
	entered := 0
	for _, line := range j.lines {
		if line == fmt.Sprintf("0s %d step_entered", entered) {
			entered++
		}
	}
	if entered != steps {
		t.Errorf("%d of %d steps were entered in their order", entered, steps)
	}
}

// TestMaxStepsEndsWithLastStep checks a workflow that has exactly as many steps as a call takes.
func TestMaxStepsEndsWithLastStep(t *testing.T) {
	t.Parallel()
	j := begin(t, strings.Repeat("add to list \"vip\"\n", engine.MaxSteps)).advance()
	for j.state.Status == engine.Active {
		j.advance()
	}
	if len(j.effects) != engine.MaxSteps {
		t.Errorf("%d steps had %d effects", engine.MaxSteps, len(j.effects))
	}
}

// TestAdvanceLeavesItsStateAlone checks that the state that a caller passed does not change.
func TestAdvanceLeavesItsStateAlone(t *testing.T) {
	t.Parallel()
	j := begin(t, "repeat up to 3 every 1 day {\nadd to list \"vip\"\n}").advance()
	before := j.state
	j.facts.Now = j.state.WakeAt
	j.plan.Advance(before, j.facts)
	if before.Passes["0"] != 0 {
		t.Errorf("the passes of the state became %v", before.Passes)
	}
}
