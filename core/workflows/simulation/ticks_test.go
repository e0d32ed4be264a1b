package simulation_test

import (
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core/workflows/engine"
	"github.com/mailhelm/mailhelm/core/workflows/examples"
	"github.com/mailhelm/mailhelm/core/workflows/language"
	"github.com/mailhelm/mailhelm/core/workflows/simulation"
	"pgregory.net/rapid"
)

// ticks simulates a contact minute by minute, without timers: it continues the run each minute.
// It adds what happens to the counts.
func ticks(plan *engine.Plan, c simulation.Contact, opts simulation.Options, counts map[string]int) {
	var state engine.State
	var mailed []time.Time
	subject := c.Subject
	subject.Lists = map[string]bool{}
	facts := engine.Facts{WorkflowID: opts.WorkflowID, ContactID: c.ID, Subject: &subject, Mailed: func(since time.Time) int {
		n := 0
		for _, at := range mailed {
			if !at.Before(since) {
				n++
			}
		}
		return n
	}}
	begun, left := false, false // left by a named exit
	move := func() {
		for again := true; again; {
			moved := plan.Advance(state, facts)
			state, again = moved.State, false
			for _, e := range moved.Events {
				switch e.Type {
				case engine.StepEntered:
					counts["entered "+e.Path]++
				case engine.SendFiltered:
					counts["filtered "+e.Path]++
				case engine.RunExited, engine.RunCompleted:
					counts[fmt.Sprint(e.Type, " ", e.Kind, " ", e.Exit)]++
					left = e.Kind == engine.ByName
				}
			}
			if state.Phase == engine.Sending {
				mailed = append(mailed, facts.Now)
				counts["sent "+state.Node]++
				state.Phase, again = engine.Sent, true
			}
		}
	}
	for now := opts.From; now.Before(opts.Until); now = now.Add(time.Minute) {
		facts.Now, subject.Events = now, nil
		for _, e := range c.Subject.Events {
			if e.At <= now.UnixMicro() {
				subject.Events = append(subject.Events, e)
			}
		}
		if begun {
			move()
		}
		for _, t := range c.Triggers {
			if t.At.Equal(now) && (!begun || state.IsOver()) && !(left && plan.Leaves(subject, now)) {
				state, begun = engine.Begin(now), true
				counts["enrolled"]++
				move()
			}
		}
	}
	if begun && !state.IsOver() {
		counts["active"]++
	}
}

// TestRunMissesNoChange compares simulations, which jump from timer to timer, with those that look
// at each minute.
func TestRunMissesNoChange(t *testing.T) {
	t.Parallel()
	condition := func(t *rapid.T) string {
		return rapid.SampledFrom([]string{
			"exists(activity.login)", "count(activity.purchase) >= 2", "count(activity.purchase within 3h) >= 2", "now - attr.renewal >= 12h",
			"attr.renewal <= now", "exists(activity.login within 1d) and attr.trial_ends <= now - 2h", "last(activity.purchase) <= now - 5h",
		}).Draw(t, "condition")
	}
	rapid.Check(t, func(t *rapid.T) {
		plan := compileRandom(t, fmt.Sprintf(`exit "bought" when count(activity.purchase) >= 4
			send window 9am-5pm in contact timezone
			reentry per occurrence
			frequency cap 2 per 2 days
			wait up to %d hours until %s {
				timeout:
					send "need-help"
			}
			repeat up to 3 every %d hours until %s {
				send "welcome"
				wait until attr.renewal
			}
			wait up to 2 days until %s
			if %s {
				add to list "sleeping"
			}
			set attr.onboarded = true`,
			rapid.IntRange(1, 48).Draw(t, "up to"), condition(t), rapid.IntRange(1, 20).Draw(t, "every"), condition(t), condition(t), condition(t)))
		opts := simulation.Options{WorkflowID: "workflow-1", From: noon, Until: noon.Add(5 * day), Samples: 1}
		minute := func(name string) time.Time {
			return noon.Add(time.Duration(rapid.IntRange(0, 5*24*60).Draw(t, name)) * time.Minute)
		}
		c := contact("contact-1", at(time.Hour, 50*time.Hour)...)
		c.Subject.Attributes = attributes("renewal", minute("renewal"), "trial_ends", minute("trial_ends"), "timezone", "Asia/Tokyo")
		for range rapid.IntRange(0, 6).Draw(t, "events") {
			name := rapid.SampledFrom([]string{"login", "purchase"}).Draw(t, "activity")
			c.Subject.Events = append(c.Subject.Events, activity(name, minute("event")))
		}
		want := map[string]int{}
		ticks(plan, c, opts, want)
		if got := countsOf(simulation.Run(plan, []simulation.Contact{c}, opts)); !maps.Equal(got, want) {
			t.Fatalf("got %v\nwant %v", got, want)
		}
	})
}

func compileRandom(t *rapid.T, statements string) *engine.Plan {
	checked, err := language.Compile(workflow(statements), examples.Schema())
	if err != nil {
		t.Fatal(err)
	}
	return engine.Compile(checked)
}

// countsOf returns the numbers of a result in the form of ticks.
func countsOf(r simulation.Result) map[string]int {
	counts := map[string]int{"enrolled": r.Enrolled, "active": r.Active}
	for _, n := range r.Nodes {
		counts["entered "+n.Path] = n.Entries
	}
	for _, s := range r.Sends {
		counts["sent "+s.Path], counts["filtered "+s.Path] = s.Sent, s.Filtered
	}
	for _, e := range r.Ends {
		counts[fmt.Sprint(e.Type, " ", e.Kind, " ", e.Exit)] += e.Count
	}
	maps.DeleteFunc(counts, func(_ string, n int) bool { return n == 0 })
	return counts
}
