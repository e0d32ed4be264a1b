package simulation_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/workflows/engine"
	"github.com/mailhelm/mailhelm/core/workflows/simulation"
)

// person is a contact of the golden file.
type person struct {
	name    string
	subject predicate.Subject
}

func attributes(pairs ...any) map[string]predicate.Value {
	values := map[string]predicate.Value{}
	for i := 0; i < len(pairs); i += 2 {
		switch v := pairs[i+1].(type) {
		case string:
			values[pairs[i].(string)] = predicate.StringValue(v)
		case time.Time:
			values[pairs[i].(string)] = date(v)
		}
	}
	return values
}

// people has contacts for the dry run of each example.
var people = map[string][]person{
	"welcome": {
		{"in Paris, at 14:00", predicate.Subject{Attributes: attributes("timezone", "Europe/Paris")}},
		{"in Sydney, at 22:00, out of news", predicate.Subject{Attributes: attributes("timezone", "Australia/Sydney"), Topics: map[string]bool{"news": false}}},
		{"who bought yesterday", predicate.Subject{Events: []predicate.Occurrence{activity("purchase", noon.Add(-day))}}},
		{"who bought 15 days ago and signed in today", predicate.Subject{Events: []predicate.Occurrence{activity("purchase", noon.Add(-15*day)), activity("login", noon.Add(-time.Hour))}}},
	},
	"trial-ending": {
		{"on a trial", predicate.Subject{Attributes: attributes("plan", "trial", "trial_ends", noon.Add(3*day))}},
		{"on a trial without an end", predicate.Subject{Attributes: attributes("plan", "trial")}},
		{"on the plan pro", predicate.Subject{Attributes: attributes("plan", "pro")}},
		{"on a trial, suppressed", predicate.Subject{Suppressed: true, Attributes: attributes("plan", "trial", "trial_ends", noon.Add(2*day))}},
	},
	"win-back": {
		{"without a purchase", predicate.Subject{}},
		{"who clicked yesterday", predicate.Subject{Events: []predicate.Occurrence{{Event: predicate.Event{Kind: predicate.Click}, At: noon.Add(-day).UnixMicro()}}}},
		{"unsubscribed from all", predicate.Subject{UnsubscribedFromAll: true}},
	},
	"renewal": {
		{"on the plan team", predicate.Subject{Attributes: attributes("plan", "team", "renewal", noon.Add(30*day))}},
		{"on the plan free", predicate.Subject{Attributes: attributes("plan", "free", "renewal", noon.Add(30*day))}},
	},
	"onboarding": {
		{"on the plan team", predicate.Subject{Attributes: attributes("plan", "team")}},
		{"on the plan pro, with a project", predicate.Subject{Attributes: attributes("plan", "pro"), Events: []predicate.Occurrence{activity("project_created", noon.Add(-time.Minute))}}},
		{"without a plan", predicate.Subject{}},
	},
	"spring-offer": {{"contact-1", predicate.Subject{}}, {"contact-2", predicate.Subject{}}, {"contact-12", predicate.Subject{}}, {"contact-9", predicate.Subject{Events: []predicate.Occurrence{activity("purchase", noon.Add(-day))}}}},
}

func TestGoldenDryRuns(t *testing.T) {
	t.Parallel()
	for key, contacts := range people {
		t.Run(key, func(t *testing.T) {
			t.Parallel()
			plan := example(t, key)
			var text strings.Builder
			for _, p := range contacts {
				fmt.Fprintf(&text, "# A contact %s\n", p.name)
				for _, step := range simulation.DryRun(plan, p.subject, p.name, "workflow-1", noon) {
					text.WriteString(stepLine(step) + "\n")
				}
				text.WriteString("\n")
			}
			compareGolden(t, key+".txt", text.String())
		})
	}
}

func stepLine(s simulation.Step) string {
	return strings.TrimSpace(fmt.Sprintf("%-14s %-13s %-14s %s", s.NodePath, s.NodeType, s.Action, s.Detail))
}

// dryRun returns the lines of a dry run of a contact without data.
func dryRun(plan *engine.Plan, subject predicate.Subject) []string {
	var lines []string
	for _, s := range simulation.DryRun(plan, subject, "contact-1", "workflow-1", noon) {
		lines = append(lines, strings.Join(strings.Fields(stepLine(s)), " "))
	}
	return lines
}

func TestDryRunOfEachStep(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		statements string
		want       []string
	}{
		{`set attr.plan = "pro"
			set attr.renewal = now + 30d
			wait until attr.renewal
			wait until 2026-01-01
			wait until attr.trial_ends
			exit`, []string{
			`0 set_attribute would-set attr.plan = "pro"`,
			`1 set_attribute would-set attr.renewal = now + 30d, 2026-07-15 12:00 UTC`,
			`2 wait_until waited 30 days, until 2026-07-15 12:00 UTC (attr.renewal)`,
			`3 wait_until waited not at all: 2026-01-01 is over or unknown`,
			`4 wait_until waited not at all: attr.trial_ends is over or unknown`,
			`5 exit exited the workflow ends here`,
		}},
		{`repeat up to 2 every 90 minutes until exists(activity.login) {
				add to list "sleeping"
			}
			repeat up to 5 every 1 week until not exists(activity.login) {
			}`, []string{
			`0 repeat waited 1 hour 30 minutes, until 2026-06-15 13:30 UTC`,
			`0 repeat entered-arm pass 1 of at most 2`,
			`0.body.0 add_to_list would-add list "sleeping"`,
			`0 repeat waited 1 hour 30 minutes, until 2026-06-15 15:00 UTC`,
			`0 repeat entered-arm pass 2 of at most 2`,
			`0.body.0 add_to_list would-add list "sleeping"`,
			`1 repeat matched-branch no pass: not exists(activity.login)`,
		}},
		{`set attr.renewal = now + 3d
			repeat up to 5 every 1 week until attr.renewal < now {
				exit
			}
			wait up to 1 week until now - attr.renewal > 5d
			wait up to 1 week until attr.renewal < now - 1y`, []string{
			`0 set_attribute would-set attr.renewal = now + 3d, 2026-06-18 12:00 UTC`,
			`1 repeat waited 7 days, until 2026-06-22 12:00 UTC`,
			`1 repeat matched-branch no further pass: attr.renewal < now`,
			`2 wait_for waited 1 day, until 2026-06-23 12:00 UTC; the condition holds: now - attr.renewal > 5d`,
			`3 wait_for waited 7 days, until 2026-06-30 12:00 UTC; the condition does not hold: attr.renewal < now - 1y`,
		}},
		{`frequency cap 1 per day
			send "welcome"
			send "need-help" transactional
			wait 25 hours
			send "thank-you"`, []string{
			`0 send would-send "welcome"`,
			`1 send would-skip the frequency cap is reached`,
			`2 wait waited 1 day 1 hour, until 2026-06-16 13:00 UTC`,
			`3 send would-send "thank-you"`,
		}},
	} {
		got := dryRun(compile(t, workflow(c.statements)), predicate.Subject{})
		if !slices.Equal(got, c.want) {
			t.Errorf("got:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
	}
}

func TestDryRunIsBounded(t *testing.T) {
	t.Parallel()
	plan := compile(t, workflow("repeat up to 100 every 1 minute {\nrepeat up to 100 every 1 minute {\nadd to list \"sleeping\"\n}\n}"))
	lines := dryRun(plan, predicate.Subject{})
	if len(lines) != simulation.MaxDryRun || !strings.HasSuffix(lines[len(lines)-1], "; the dry run ends here, after 500 steps") {
		t.Errorf("%d steps, the last is %s", len(lines), lines[len(lines)-1])
	}
}

// TestDryRunChangesNothing checks that the contact of a caller does not change.
func TestDryRunChangesNothing(t *testing.T) {
	t.Parallel()
	subject := predicate.Subject{
		Attributes: attributes("plan", "free"), Lists: map[string]bool{},
		Events: []predicate.Occurrence{activity("login", noon), activity("signup", noon.Add(-day))},
	}
	dryRun(compile(t, workflow("set attr.plan = \"pro\"\nadd to list \"sleeping\"")), subject)
	if subject.Attributes["plan"].Text != "free" || len(subject.Lists) > 0 || subject.Events[0].Event.Activity != "login" {
		t.Errorf("the contact became %+v", subject)
	}
}

// TestDryRunSeesNoLaterEvents checks that events after the beginning are ignored.
func TestDryRunSeesNoLaterEvents(t *testing.T) {
	t.Parallel()
	subject := predicate.Subject{Events: []predicate.Occurrence{activity("login", noon.Add(time.Hour))}}
	lines := dryRun(compile(t, workflow("wait up to 1 day until exists(activity.login)")), subject)
	want := `0 wait_for waited 1 day, until 2026-06-16 12:00 UTC; the condition does not hold: exists(activity.login)`
	if len(lines) != 1 || lines[0] != want {
		t.Errorf("got %q", lines)
	}
}
