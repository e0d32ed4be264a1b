package simulation

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/workflows/engine"
	"github.com/mailhelm/mailhelm/core/workflows/language"
)

// MaxContacts is the number of contacts that an estimate simulates at most. For more it simulates
// a sample of this size.
const MaxContacts = 20_000

// batch is the number of contacts that are loaded at once.
const batch = 1_000

// Store loads what estimates need to know of contacts. Every method sees only the given
// organization and takes part in the transaction of ctx.
type Store interface {
	// CountExisting returns the number of active contacts who would enter the workflow at an
	// activation at s.Until: those for whom the trigger has happened since s.Since and before
	// s.Until, whose membership has not ended for a segment, who match where if it is not nil,
	// and who may enter again if they have been in the workflow before.
	CountExisting(ctx context.Context, orgID, workflowID string, s Selection, where *predicate.Checked) (int, error)
	// CountTriggered returns the number of active contacts for whom the trigger has happened at
	// least once since s.Since and before s.Until.
	CountTriggered(ctx context.Context, orgID string, s Selection) (int, error)
	// Triggered returns up to limit of the contacts that CountTriggered counts, by id, with all
	// times of the trigger since s.Since and before s.Until, in their order: when the contact
	// entered the segment, when the event or activity occurred, or the time that is in the
	// distance of the trigger to the date. If there are more contacts than limit, the result is
	// an even sample, for example those with the least hashes of their ids. The same data gives
	// the same sample.
	Triggered(ctx context.Context, orgID string, s Selection, limit int) (map[string][]Trigger, error)
	// Subjects returns the data of contacts that refs names and their consent, with their events
	// of any time, by id. It skips contacts that are not active.
	Subjects(ctx context.Context, orgID string, contactIDs []string, refs predicate.References) (map[string]predicate.Subject, error)
}

// Selection selects the times at which a trigger happened.
type Selection struct {
	Trigger language.Trigger
	// SegmentID is the id of the segment of a segment trigger.
	SegmentID string
	// Since is the first time that counts, zero for any. Until is excluded.
	Since, Until time.Time
}

// Question says what to estimate.
type Question struct {
	OrgID, WorkflowID string
	Plan              *engine.Plan
	// SegmentID is the id of the segment of a segment trigger.
	SegmentID string
	// Days is the number of days before Now that are simulated, at least 1.
	Days int
	Now  time.Time
	// Cap is the limit of messages that holds for workflows without one of their own.
	Cap *language.Cap
}

// Estimate is what an activation would do now, and what would have happened if the workflow had
// been activated at the beginning of the last days, without the contacts who enter for a trigger
// of before. Approvals count as given at once, and no contact counts as having been in the
// workflow before.
type Estimate struct {
	// EnterNow is the exact number of contacts who would enter at the activation.
	EnterNow int
	// PerDay is the mean number of runs that would have begun on a day.
	PerDay float64
	// Days has the simulated days in UTC. The first and the last may be parts of days.
	Days []Day
	// Sends has all send steps and Nodes all steps, in the order of the source.
	Sends []SendEstimate
	Nodes []Node
	Ends  []End
	// Contacts is the number of contacts for whom the trigger has happened in those days.
	Contacts int
	// Sampled is true if only Simulated of them were simulated, and the numbers multiplied.
	Sampled   bool
	Simulated int
	// Samples has timelines of some runs.
	Samples []Timeline
}

// SendEstimate is the mean number of messages of a send step on a day.
type SendEstimate struct {
	Path, Template string
	PerDay         float64
}

// Estimator estimates what workflows do with the contacts of an organization.
type Estimator struct {
	store Store
	limit int
}

// NewEstimator returns an estimator that simulates up to [MaxContacts] contacts.
func NewEstimator(store Store) *Estimator { return &Estimator{store, MaxContacts} }

// WithLimit returns an estimator that simulates up to limit contacts.
func (e Estimator) WithLimit(limit int) *Estimator {
	e.limit = limit
	return &e
}

// timelines is the number of sample timelines of an estimate.
const timelines = 3

// Estimate answers a question. It fails only if the store does.
func (e *Estimator) Estimate(ctx context.Context, q Question) (Estimate, error) {
	enterNow, err := e.enterNow(ctx, q)
	if err != nil {
		return Estimate{}, err
	}
	s := Selection{q.Plan.Settings().Trigger, q.SegmentID, q.Now.Add(-time.Duration(q.Days) * oneDay), q.Now}
	triggered, err := e.store.Triggered(ctx, q.OrgID, s, e.limit)
	if err != nil {
		return Estimate{}, fmt.Errorf("find contacts with the trigger: %w", err)
	}
	simulator := New(q.Plan, Options{WorkflowID: q.WorkflowID, From: s.Since, Until: s.Until, ForwardOnly: true, Cap: q.Cap, Samples: timelines})
	if err := e.simulate(ctx, q, simulator, triggered); err != nil {
		return Estimate{}, err
	}
	contacts := len(triggered)
	if contacts == e.limit { // there may be more
		n, err := e.store.CountTriggered(ctx, q.OrgID, s)
		if err != nil {
			return Estimate{}, fmt.Errorf("count contacts with the trigger: %w", err)
		}
		contacts = max(contacts, n)
	}
	return scaled(simulator.Result(), q.Days, enterNow, contacts, len(triggered)), nil
}

// enterNow returns the number of contacts who would enter at an activation now.
func (e *Estimator) enterNow(ctx context.Context, q Question) (int, error) {
	existing, since := existingOf(q.Plan)
	if !existing {
		return 0, nil
	}
	s := Selection{Trigger: q.Plan.Settings().Trigger, SegmentID: q.SegmentID, Until: q.Now}
	if since > 0 {
		s.Since = q.Now.Add(-since)
	}
	n, err := e.store.CountExisting(ctx, q.OrgID, q.WorkflowID, s, q.Plan.Checked().Condition(q.Plan.Settings().Where))
	if err != nil {
		return 0, fmt.Errorf("count contacts who enter at the activation: %w", err)
	}
	return n, nil
}

// simulate loads contacts in batches and lets them run through the workflow, in the order of
// their ids.
func (e *Estimator) simulate(ctx context.Context, q Question, simulator *Simulator, triggered map[string][]Trigger) error {
	refs := q.Plan.References()
	for ids := range slices.Chunk(slices.Sorted(maps.Keys(triggered)), batch) {
		subjects, err := e.store.Subjects(ctx, q.OrgID, ids, refs)
		if err != nil {
			return fmt.Errorf("load contacts: %w", err)
		}
		for _, id := range ids {
			if subject, active := subjects[id]; active {
				simulator.Add(Contact{id, subject, triggered[id]})
			}
		}
	}
	return nil
}

// scaled returns the estimate from the result for a number of simulated contacts of all contacts.
func scaled(r Result, days, enterNow, contacts, simulated int) Estimate {
	factor := 1.0
	if simulated > 0 {
		factor = float64(contacts) / float64(simulated)
	}
	times := func(n int) int { return int(math.Round(float64(n) * factor)) }
	mean := func(n int) float64 { return float64(n) * factor / float64(days) }
	estimate := Estimate{
		EnterNow: enterNow, PerDay: mean(r.Enrolled), Contacts: contacts, Sampled: simulated < contacts, Simulated: simulated,
		Days: r.Days, Nodes: r.Nodes, Ends: r.Ends, Samples: r.Samples,
	}
	for i := range estimate.Days {
		d := &estimate.Days[i]
		d.Enrolled, d.Sends = times(d.Enrolled), times(d.Sends)
	}
	for i := range estimate.Nodes {
		n := &estimate.Nodes[i]
		n.Runs, n.Entries, n.At = times(n.Runs), times(n.Entries), times(n.At)
	}
	for i := range estimate.Ends {
		estimate.Ends[i].Count = times(estimate.Ends[i].Count)
	}
	for _, s := range r.Sends {
		estimate.Sends = append(estimate.Sends, SendEstimate{s.Path, s.Template, mean(s.Sent)})
	}
	return estimate
}
