package population

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/segments"
	"github.com/mailhelm/mailhelm/core/workflows"
	"github.com/mailhelm/mailhelm/core/workflows/language"
	"github.com/mailhelm/mailhelm/core/workflows/simulation"
)

// CountTriggered implements [simulation.Store].
func (r reader) CountTriggered(ctx context.Context, orgID string, s simulation.Selection) (int, error) {
	if r.trigger.Kind != workflows.OnDate {
		return r.Triggers.CountTriggered(ctx, orgID, r.trigger, s.Since, s.Until)
	}
	return r.count(ctx, dateWithin(s.Trigger, s.Since, s.Until), nil, s.Until)
}

// Triggered implements [simulation.Store].
func (r reader) Triggered(ctx context.Context, orgID string, s simulation.Selection, limit int) (map[string][]simulation.Trigger, error) {
	times, err := r.times(ctx, orgID, s, limit)
	triggered := make(map[string][]simulation.Trigger, len(times))
	for id, all := range times {
		for _, at := range all {
			triggered[id] = append(triggered[id], simulation.Trigger{At: at})
		}
	}
	return triggered, err
}

func (r reader) times(ctx context.Context, orgID string, s simulation.Selection, limit int) (map[string][]time.Time, error) {
	if r.trigger.Kind != workflows.OnDate {
		return r.Triggers.Triggered(ctx, orgID, r.trigger, s.Since, s.Until, limit)
	}
	ids, err := r.matching(ctx, dateWithin(s.Trigger, s.Since, s.Until), nil, s.Until)
	if err != nil {
		return nil, err
	}
	if len(ids) > limit {
		slices.SortFunc(ids, func(a, b string) int { return cmp.Compare(end(a), end(b)) })
		ids = ids[:limit]
	}
	times := make(map[string][]time.Time, len(ids))
	for page := range slices.Chunk(ids, pageOfContacts) {
		subjects, err := r.Subjects(ctx, orgID, page, predicate.References{Attributes: []string{s.Trigger.Attribute}})
		if err != nil {
			return nil, err
		}
		for id, subject := range subjects {
			moment := time.UnixMicro(subject.Attributes[s.Trigger.Attribute].Moment.Micros).UTC()
			times[id] = []time.Time{moment.Add(-shift(s.Trigger))}
		}
	}
	return times, nil
}

// pageOfContacts is the number of contacts that are read at once.
const pageOfContacts = 1000

// end returns the end of an id, which is random.
func end(id string) string {
	const random = 12
	return id[max(0, len(id)-random):]
}

// shift returns how long after the trigger the date of the attribute is.
func shift(t language.Trigger) time.Duration {
	distance := time.Duration(t.Distance.Micros()) * time.Microsecond
	if t.Before {
		return distance
	}
	return -distance
}

// dateWithin returns the predicate that the trigger happens since the time and before the other.
func dateWithin(t language.Trigger, since, until time.Time) string {
	literal := func(at time.Time) string {
		return predicate.StringLiteral(at.Add(shift(t)).UTC().Format(time.RFC3339Nano))
	}
	attribute := "attr." + t.Attribute
	if since.IsZero() {
		return attribute + " < " + literal(until)
	}
	return attribute + " >= " + literal(since) + " and " + attribute + " < " + literal(until)
}

// count returns the number of contacts that match the source, of the given ones, or of all if
// these are nil.
func (r reader) count(ctx context.Context, source string, contacts []string, now time.Time) (int, error) {
	q, err := r.question(source, contacts, now)
	if err != nil {
		return 0, err
	}
	return r.Members.CountMatching(ctx, q)
}

// matching returns the contacts that count counts, in their order.
func (r reader) matching(ctx context.Context, source string, contacts []string, now time.Time) ([]string, error) {
	q, err := r.question(source, contacts, now)
	if err != nil {
		return nil, err
	}
	return r.Population.Subjects.Matching(ctx, q, "", 0)
}

func (r reader) question(source string, contacts []string, now time.Time) (segments.Question, error) {
	condition, err := predicate.Compile(source, r.schema.Schema)
	if err != nil {
		return segments.Question{}, fmt.Errorf("population: condition of the trigger: %w", err)
	}
	return segments.Question{OrgID: r.orgID, Predicate: condition, Slots: r.schema.Slots, Now: now, Contacts: contacts}, nil
}
