package simulation_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/workflows/simulation"
)

// memory is a store with contacts in memory.
type memory struct {
	contacts []simulation.Contact
	// archived has ids of contacts without data.
	archived map[string]bool
	fails    string
	// largest is the greatest number of contacts loaded at once.
	largest int
	refs    predicate.References
}

var errBroken = errors.New("the store is broken")

func (m *memory) failure(method string) error {
	if m.fails == method {
		return errBroken
	}
	return nil
}

func (m *memory) CountExisting(_ context.Context, _, _ string, s simulation.Selection, where *predicate.Checked) (int, error) {
	n := 0
	for _, c := range m.contacts {
		if slices.ContainsFunc(c.Triggers, func(t simulation.Trigger) bool {
			return !t.At.Before(s.Since) && t.At.Before(s.Until) && (t.Until.IsZero() || t.Until.After(s.Until))
		}) && (where == nil || where.Match(c.Subject, s.Until) == predicate.True) {
			n++
		}
	}
	return n, m.failure("CountExisting")
}

func (m *memory) triggered(s simulation.Selection) map[string][]simulation.Trigger {
	found := map[string][]simulation.Trigger{}
	for _, c := range m.contacts {
		for _, t := range c.Triggers {
			if !t.At.Before(s.Since) && t.At.Before(s.Until) {
				found[c.ID] = append(found[c.ID], t)
			}
		}
	}
	return found
}

func (m *memory) CountTriggered(_ context.Context, _ string, s simulation.Selection) (int, error) {
	return len(m.triggered(s)), m.failure("CountTriggered")
}

func (m *memory) Triggered(_ context.Context, _ string, s simulation.Selection, limit int) (map[string][]simulation.Trigger, error) {
	found := m.triggered(s)
	ids := slices.SortedFunc(maps.Keys(found), func(a, b string) int { return cmp.Compare(hashOf(a), hashOf(b)) })
	for _, id := range ids[min(limit, len(ids)):] {
		delete(found, id)
	}
	return found, m.failure("Triggered")
}

func hashOf(id string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(id))
	return h.Sum64()
}

func (m *memory) Subjects(_ context.Context, _ string, ids []string, refs predicate.References) (map[string]predicate.Subject, error) {
	m.largest, m.refs = max(m.largest, len(ids)), refs
	subjects := map[string]predicate.Subject{}
	for _, c := range m.contacts {
		if slices.Contains(ids, c.ID) && !m.archived[c.ID] {
			subjects[c.ID] = c.Subject
		}
	}
	return subjects, m.failure("Subjects")
}

// question asks about the ten days before noon.
func question(t testing.TB, source string) simulation.Question {
	t.Helper()
	return simulation.Question{OrgID: "org-1", WorkflowID: "workflow-1", Plan: compile(t, source), Days: 10, Now: noon}
}

func estimate(t *testing.T, m *memory, limit int, q simulation.Question) simulation.Estimate {
	t.Helper()
	e, err := simulation.NewEstimator(m).WithLimit(limit).Estimate(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

const newCustomers = "workflow \"W\" v1 {\nenter on segment \"new-customers\" where attr.plan = \"pro\"\n"

// customers returns contacts, one in the segment since each of the last n days, of which every
// second is on the plan pro.
func customers(n int) []simulation.Contact {
	var all []simulation.Contact
	for i := range n {
		c := contact(fmt.Sprintf("contact-%05d", i), at(-time.Duration(i)*day-time.Hour)...)
		c.Subject.Attributes = attributes("plan", []string{"pro", "free"}[i%2])
		all = append(all, c)
	}
	return all
}

func TestEstimate(t *testing.T) {
	t.Parallel()
	m := &memory{contacts: customers(20)}
	m.contacts[4].Triggers[0].Until = noon.Add(-day)
	m.contacts[2].Subject.Events = []predicate.Occurrence{activity("purchase", noon.Add(-36*time.Hour))}
	q := question(t, newCustomers+"exit \"bought\" when exists(activity.purchase)\nwait 1 day\nsend \"welcome\"\nwait 90 days\n}")
	e := estimate(t, m, simulation.MaxContacts, q)
	if e.EnterNow != 9 {
		t.Errorf("%d contacts enter now, want 9", e.EnterNow)
	}
	if e.Contacts != 10 || e.Simulated != 10 || e.Sampled {
		t.Errorf("%d of %d contacts were simulated, sampled %t", e.Simulated, e.Contacts, e.Sampled)
	}
	if e.PerDay != 0.5 || len(e.Sends) != 1 || e.Sends[0] != (simulation.SendEstimate{Path: "1", Template: "welcome", PerDay: 0.3}) {
		t.Errorf("a day has %v runs and the sends %+v", e.PerDay, e.Sends)
	}
	var enrolled, sends []int
	for _, d := range e.Days {
		enrolled, sends = append(enrolled, d.Enrolled), append(sends, d.Sends)
	}
	if !slices.Equal(enrolled, []int{0, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1}) || !slices.Equal(sends, []int{0, 0, 0, 1, 0, 1, 0, 1, 0, 0, 0}) {
		t.Errorf("the days have %v runs and %v sends", enrolled, sends)
	}
	if len(e.Ends) != 1 || e.Ends[0].Exit != "bought" || e.Ends[0].Count != 1 {
		t.Errorf("the ends are %+v", e.Ends)
	}
	if !reflect.DeepEqual(m.refs, q.Plan.References()) {
		t.Errorf("the parts %+v were loaded", m.refs)
	}
	if len(e.Samples) != 3 || e.Nodes[0].Runs != 5 || e.Nodes[1].Runs != 3 || e.Nodes[2].At != 3 || e.Nodes[0].At != 1 {
		t.Errorf("%d timelines, nodes %+v", len(e.Samples), e.Nodes)
	}
}

func TestEstimateOfWhoEntersNow(t *testing.T) {
	t.Parallel()
	m := &memory{contacts: customers(20)}
	for settings, want := range map[string]int{"": 10, "enroll forward\n": 0, "enroll existing since 7 days\n": 4} {
		e := estimate(t, m, 100, question(t, newCustomers+settings+"exit\n}"))
		if e.EnterNow != want {
			t.Errorf("%q: %d contacts enter now, want %d", settings, e.EnterNow, want)
		}
		if e.PerDay != 0.5 {
			t.Errorf("%q: the past has %v runs a day", settings, e.PerDay)
		}
	}
}

func TestEstimateSkipsArchivedContacts(t *testing.T) {
	t.Parallel()
	m := &memory{contacts: customers(20), archived: map[string]bool{"contact-00002": true}}
	if e := estimate(t, m, 100, question(t, newCustomers+"exit\n}")); e.PerDay != 0.4 || e.Contacts != 10 {
		t.Errorf("%v runs a day of %d contacts", e.PerDay, e.Contacts)
	}
}

func TestEstimateOfNoContacts(t *testing.T) {
	t.Parallel()
	e := estimate(t, &memory{}, 100, question(t, newCustomers+"send \"welcome\"\n}"))
	if e.PerDay != 0 || e.Contacts != 0 || e.Sampled || len(e.Days) != 11 || len(e.Sends) != 1 || e.Sends[0].PerDay != 0 {
		t.Errorf("the estimate is %+v", e)
	}
}

// TestEstimateOfSample compares the estimate from a sample with that of all contacts.
func TestEstimateOfSample(t *testing.T) {
	t.Parallel()
	m := &memory{}
	for i := range 6_000 {
		c := contact(fmt.Sprintf("contact-%05d", i), at(-time.Duration(i%240)*time.Hour-time.Minute)...)
		c.Subject.Attributes = attributes("plan", []string{"pro", "free", "team"}[i%3])
		m.contacts = append(m.contacts, c)
	}
	q := question(t, newCustomers+"split {\n30%: {\nsend \"welcome\"\n}\n70%: {\n}\n}\n}")
	all, sample := estimate(t, m, 6_001, q), estimate(t, m, 1_500, q)
	if all.Sampled || all.Simulated != 6_000 || m.largest > 1_000 {
		t.Errorf("%d contacts were simulated, sampled %t, %d loaded at once", all.Simulated, all.Sampled, m.largest)
	}
	if !sample.Sampled || sample.Simulated != 1_500 || sample.Contacts != 6_000 || sample.EnterNow != all.EnterNow {
		t.Errorf("the sample has %d of %d contacts, sampled %t, %d enter now", sample.Simulated, sample.Contacts, sample.Sampled, sample.EnterNow)
	}
	near := func(what string, got, want float64) {
		if math.Abs(got-want) > want/6 {
			t.Errorf("%s: %v by the sample, %v by all contacts", what, got, want)
		}
	}
	near("runs a day", sample.PerDay, all.PerDay)
	near("sends a day", sample.Sends[0].PerDay, all.Sends[0].PerDay)
	near("runs at the split", float64(sample.Nodes[0].Runs), float64(all.Nodes[0].Runs))
	near("ends", float64(sample.Ends[0].Count), float64(all.Ends[0].Count))
	if exact := estimate(t, m, 6_000, q); exact.Sampled || !reflect.DeepEqual(exact, all) {
		t.Errorf("with as many contacts as the limit, the estimate is sampled: %t", exact.Sampled)
	}
	if again := estimate(t, m, 1_500, q); !reflect.DeepEqual(again, sample) {
		t.Error("the same question has another answer")
	}
}

func TestEstimateFailsWithTheStore(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"CountExisting", "CountTriggered", "Triggered", "Subjects"} {
		m := &memory{contacts: customers(20), fails: method}
		if _, err := simulation.NewEstimator(m).WithLimit(5).Estimate(t.Context(), question(t, newCustomers+"exit\n}")); !errors.Is(err, errBroken) {
			t.Errorf("%s: the estimate fails with %v", method, err)
		}
	}
}
