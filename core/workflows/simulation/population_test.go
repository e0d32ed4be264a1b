package simulation_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/workflows/examples"
	"github.com/mailhelm/mailhelm/core/workflows/simulation"
)

// population returns n contacts with a year of activities. The same n gives the same contacts.
func population(n int) []simulation.Contact {
	random := rand.New(rand.NewPCG(1, 2))
	contacts := make([]simulation.Contact, n)
	for i := range contacts {
		c := &contacts[i]
		c.ID = fmt.Sprintf("0190a000-0000-7000-8000-%012d", i)
		entered := noon.Add(time.Duration(random.IntN(300*24)) * time.Hour)
		c.Triggers = []simulation.Trigger{{At: entered, Until: entered.Add(40 * day)}, {At: entered.Add(60 * day)}}
		c.Subject.Attributes = attributes(
			"plan", []string{"free", "trial", "pro", "team"}[random.IntN(4)], "timezone", []string{"Europe/Paris", "America/New_York", "Asia/Tokyo"}[random.IntN(3)],
			"trial_ends", entered.Add(3*day), "renewal", entered.Add(30*day))
		c.Subject.Topics = map[string]bool{"offers": random.IntN(3) > 0}
		for range random.IntN(12) {
			name := []string{"login", "project_created", "purchase"}[random.IntN(3)]
			c.Subject.Events = append(c.Subject.Events, activity(name, entered.Add(time.Duration(random.IntN(90*24))*time.Hour)))
		}
		if random.IntN(2) == 0 {
			c.Subject.Events = append(c.Subject.Events, predicate.Occurrence{Event: predicate.Event{Kind: predicate.Click}, At: entered.Add(12 * day).UnixMicro()})
		}
	}
	return contacts
}

// year simulates a year from noon.
func year() simulation.Options {
	return simulation.Options{WorkflowID: "workflow-1", From: noon, Until: noon.Add(365 * day)}
}

// BenchmarkRun lets 10,000 contacts run through each example for a year.
func BenchmarkRun(b *testing.B) {
	contacts := population(10_000)
	for _, e := range examples.All() {
		b.Run(e.Key, func(b *testing.B) {
			plan := compile(b, e.Source)
			b.ReportAllocs()
			var r simulation.Result
			for b.Loop() {
				r = simulation.Run(plan, contacts, year())
			}
			entries := 0
			for _, node := range r.Nodes {
				entries += node.Entries
			}
			b.ReportMetric(float64(r.Enrolled), "runs")
			b.ReportMetric(float64(entries), "steps")
		})
	}
}

func BenchmarkDryRun(b *testing.B) {
	plan, contact := example(b, "onboarding"), population(1)[0]
	b.ReportAllocs()
	for b.Loop() {
		simulation.DryRun(plan, contact.Subject, contact.ID, "workflow-1", noon)
	}
}
