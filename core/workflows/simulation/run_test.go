package simulation_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/workflows/engine"
	"github.com/mailhelm/mailhelm/core/workflows/language"
	"github.com/mailhelm/mailhelm/core/workflows/simulation"
)

// at returns triggers at these times after noon.
func at(after ...time.Duration) []simulation.Trigger {
	var triggers []simulation.Trigger
	for _, d := range after {
		triggers = append(triggers, simulation.Trigger{At: noon.Add(d)})
	}
	return triggers
}

// contact returns a contact without data.
func contact(id string, triggers ...simulation.Trigger) simulation.Contact {
	return simulation.Contact{ID: id, Triggers: triggers}
}

// tenDays simulates ten days from noon.
func tenDays() simulation.Options {
	return simulation.Options{WorkflowID: "workflow-1", From: noon, Until: noon.Add(10 * day)}
}

// ends returns the ends of a result as text.
func ends(r simulation.Result) string {
	var parts []string
	for _, e := range r.Ends {
		parts = append(parts, strings.Join(strings.Fields(fmt.Sprint(e.Type, " ", e.Kind, " ", e.Exit, " ", e.Count)), " "))
	}
	return strings.Join(parts, ", ")
}

func TestRunCounts(t *testing.T) {
	t.Parallel()
	plan := compile(t, workflow(`exit "bought" when exists(activity.purchase)
		send "welcome" via topic news
		wait 2 days
		if attr.plan = "pro" {
			send "pro-features"
		}
		wait 20 days`))
	pro := contact("pro", at(time.Hour)...)
	pro.Subject.Attributes = attributes("plan", "pro")
	out := contact("out", at(day)...)
	out.Subject.Topics = map[string]bool{"news": false}
	buyer := contact("buyer", at(0)...)
	buyer.Subject.Events = []predicate.Occurrence{activity("purchase", noon.Add(day))}
	early := contact("early", at(0)...)
	early.Subject.Events = []predicate.Occurrence{activity("purchase", noon)}
	late := contact("late", at(10*day, -time.Second)...)
	r := simulation.Run(plan, []simulation.Contact{pro, out, buyer, early, late, contact("none")}, tenDays())

	if r.Contacts != 6 || r.Enrolled != 4 || r.Active != 2 {
		t.Errorf("%d contacts, %d runs, %d active", r.Contacts, r.Enrolled, r.Active)
	}
	if got := ends(r); got != "exited named bought 2" {
		t.Errorf("the runs ended with %s", got)
	}
	if len(r.Days) != 11 || !r.Days[0].Day.Equal(noon.Truncate(day)) {
		t.Fatalf("the days are %v", r.Days)
	}
	if r.Days[0].Enrolled != 3 || r.Days[1].Enrolled != 1 || r.Days[0].Sends != 2 || r.Days[1].Sends != 0 || r.Days[2].Sends != 1 {
		t.Errorf("the days are %v", r.Days[:3])
	}
	welcome, features := r.Sends[0], r.Sends[1]
	if welcome.Path != "0" || welcome.Template != "welcome" || welcome.Sent != 2 || welcome.Filtered != 1 || welcome.Days[0] != 2 {
		t.Errorf("the first send is %+v", welcome)
	}
	if features.Path != "2.then.0" || features.Sent != 1 || features.Days[2] != 1 {
		t.Errorf("the second send is %+v", features)
	}
	want := []simulation.Node{
		{Path: "0", Type: "send", Runs: 3, Entries: 3},
		{Path: "1", Type: "wait", Runs: 3, Entries: 3},
		{Path: "2", Type: "if", Runs: 2, Entries: 2},
		{Path: "2.then.0", Type: "send", Runs: 1, Entries: 1},
		{Path: "3", Type: "wait", Runs: 2, Entries: 2, At: 2},
	}
	if !slices.Equal(r.Nodes, want) {
		t.Errorf("the nodes are %+v", r.Nodes)
	}
}

// TestEventsWakeRuns checks that events are seen when they happen, neither before nor after.
func TestEventsWakeRuns(t *testing.T) {
	t.Parallel()
	plan := compile(t, workflow(`wait up to 5 days until count(activity.login) >= 2 {
			timeout:
				exit
		}
		wait 1 hour`))
	c := contact("contact-1", at(0)...)
	second := noon.Add(30*time.Hour + 7*time.Second)
	c.Subject.Events = []predicate.Occurrence{activity("login", second), activity("login", noon.Add(time.Hour)), activity("login", noon.Add(9*day))}
	opts := tenDays()
	opts.Samples = 1
	r := simulation.Run(plan, []simulation.Contact{c}, opts)
	if len(r.Samples) != 1 {
		t.Fatalf("there are %d samples", len(r.Samples))
	}
	var lines []string
	for _, e := range r.Samples[0].Events {
		lines = append(lines, fmt.Sprint(e.At.Sub(noon), " ", e.Path, " ", e.Type))
	}
	want := []string{"0s  enrolled", "0s 0 step_entered", "0s 0 wait_started", "30h0m7s 0 wait_met", "30h0m7s 1 step_entered", "30h0m7s 1 wait_started", "31h0m7s 1 wait_met", "31h0m7s 1 completed"}
	if !slices.Equal(lines, want) {
		t.Errorf("the timeline is %q", lines)
	}
	if c.Subject.Events[0].At != second.UnixMicro() {
		t.Error("the events of the caller changed")
	}
}

func TestReentry(t *testing.T) {
	t.Parallel()
	const exit = "exit \"bought\" when exists(activity.purchase within 2d)\n"
	for name, c := range map[string]struct {
		settings string
		triggers []simulation.Trigger
		bought   []time.Duration
		runs     int
	}{
		"once":                       {"", at(0, 3*day), nil, 1},
		"again after the end":        {"reentry per occurrence\n", at(0, 3*day), nil, 2},
		"not while a run is active":  {"reentry per occurrence\n", at(0, time.Hour, 2*time.Hour), nil, 1},
		"at the end of the run":      {"reentry per occurrence\n", at(0, day), nil, 2},
		"not while the exit matches": {"reentry on rematch\n" + exit, at(0, 2*day, 4*day), []time.Duration{time.Hour}, 2},
		"after an end by itself, an exit is no obstacle": {"reentry on rematch\n" + exit, at(0, 2*day), []time.Duration{26 * time.Hour}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plan := compile(t, workflow(c.settings+"wait 1 day\nset attr.onboarded = true"))
			person := contact("contact-1", c.triggers...)
			for _, after := range c.bought {
				person.Subject.Events = append(person.Subject.Events, activity("purchase", noon.Add(after)))
			}
			if r := simulation.Run(plan, []simulation.Contact{person}, tenDays()); r.Enrolled != c.runs {
				t.Errorf("%d runs, want %d; ends %s", r.Enrolled, c.runs, ends(r))
			}
		})
	}
}

func TestEnrollment(t *testing.T) {
	t.Parallel()
	member := contact("member", at(-20*day)...)
	left := contact("left", simulation.Trigger{At: noon.Add(-20 * day), Until: noon.Add(-time.Hour)})
	returned := contact("returned", simulation.Trigger{At: noon.Add(-20 * day), Until: noon.Add(-9 * day)}, simulation.Trigger{At: noon.Add(-2 * day)})
	comes := contact("comes", at(3*day)...)
	population := []simulation.Contact{member, left, returned, comes}
	for name, c := range map[string]struct {
		trigger, settings string
		forwardOnly       bool
		activate          time.Duration
		enrolled          []int // on the first days
	}{
		"segment":                     {`segment "new-customers"`, "", false, 0, []int{2, 0, 0, 1}},
		"segment, forward":            {`segment "new-customers"`, "enroll forward\n", false, 0, []int{0, 0, 0, 1}},
		"segment, since":              {`segment "new-customers"`, "enroll existing since 7 days\n", false, 0, []int{1, 0, 0, 1}},
		"segment, without the past":   {`segment "new-customers"`, "", true, 0, []int{0, 0, 0, 1}},
		"segment, activated later":    {`segment "new-customers"`, "", false, 4 * day, []int{0, 0, 0, 0, 3}},
		"activity":                    {"activity.signup", "", false, 0, []int{0, 0, 0, 1}},
		"activity, existing":          {"activity.signup", "enroll existing\n", false, 0, []int{2, 0, 0, 1}},
		"date, existing since a time": {"1 day before attr.renewal", "enroll existing since 3 days\n", false, 0, []int{1, 0, 0, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			opts := tenDays()
			opts.ForwardOnly, opts.ActivateAt = c.forwardOnly, noon.Add(c.activate)
			plan := compile(t, "workflow \"W\" v1 {\nenter on "+c.trigger+"\n"+c.settings+"exit\n}")
			r := simulation.Run(plan, population, opts)
			for i, want := range c.enrolled {
				if r.Days[i].Enrolled != want {
					t.Errorf("day %d: %d runs, want %d", i, r.Days[i].Enrolled, want)
				}
			}
		})
	}
}

func TestWhereSeesTheTimeOfTheTrigger(t *testing.T) {
	t.Parallel()
	plan := compile(t, "workflow \"W\" v1 {\nenter on activity.signup where count(activity.purchase) = 1\nreentry per occurrence\nexit\n}")
	c := contact("contact-1", at(0, day, 2*day)...)
	c.Subject.Events = []predicate.Occurrence{activity("purchase", noon.Add(day)), activity("purchase", noon.Add(2*day))}
	r := simulation.Run(plan, []simulation.Contact{c}, tenDays())
	if r.Enrolled != 1 || r.Days[1].Enrolled != 1 {
		t.Errorf("%d runs, days %v", r.Enrolled, r.Days[:3])
	}
}

func TestCapAndHold(t *testing.T) {
	t.Parallel()
	plan := compile(t, workflow("send \"welcome\"\nsend \"need-help\"\nwait 2 days\nsend \"thank-you\""))
	opts := tenDays()
	opts.Cap = &language.Cap{Messages: 1, Per: language.Duration{Amount: 1, Unit: predicate.Day}}
	r := simulation.Run(plan, []simulation.Contact{contact("contact-1", at(0)...)}, opts)
	if r.Sends[0].Sent != 1 || r.Sends[1].Sent != 0 || r.Sends[1].Filtered != 1 || r.Sends[2].Sent != 1 {
		t.Errorf("the sends are %+v", r.Sends)
	}
	opts.Hold = true
	r = simulation.Run(plan, []simulation.Contact{contact("contact-1", at(0)...)}, opts)
	if r.Sends[0].Held != 1 || r.Sends[0].Sent != 0 || r.Active != 1 || r.Nodes[0].At != 1 {
		t.Errorf("the sends are %+v, %d active", r.Sends, r.Active)
	}
}

// TestLongRuns checks runs with more steps than a call of the engine takes.
func TestLongRuns(t *testing.T) {
	t.Parallel()
	plan := compile(t, workflow(strings.Repeat("add to list \"sleeping\"\n", 150)))
	r := simulation.Run(plan, []simulation.Contact{contact("contact-1", at(0)...)}, tenDays())
	if ends(r) != "completed 1" || r.Nodes[149].Entries != 1 {
		t.Errorf("the runs ended with %s", ends(r))
	}
}

// TestRunIsDeterministic checks that neither repetition nor the order of contacts changes the
// numbers.
func TestRunIsDeterministic(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"welcome", "win-back", "onboarding", "spring-offer"} {
		plan, contacts := example(t, key), population(300)
		opts := year()
		first := simulation.Run(plan, contacts, opts)
		if first.Enrolled == 0 || len(first.Ends) == 0 {
			t.Errorf("%s: nothing happened: %+v", key, first)
		}
		if again := simulation.Run(plan, contacts, opts); !reflect.DeepEqual(first, again) {
			t.Errorf("%s: the same simulation has another result", key)
		}
		slices.Reverse(contacts)
		if again := simulation.Run(plan, contacts, opts); !reflect.DeepEqual(first, again) {
			t.Errorf("%s: another order of contacts has another result", key)
		}
		total := first.Active
		for _, end := range first.Ends {
			if end.Type == engine.RunFailed {
				t.Errorf("%s: %d runs failed", key, end.Count)
			}
			total += end.Count
		}
		if total != first.Enrolled {
			t.Errorf("%s: %d runs began, and %d ended or are active", key, first.Enrolled, total)
		}
	}
}
