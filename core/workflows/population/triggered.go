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
	condition, err := predicate.Compile(dateWithin(s.Trigger, s.Since, s.Until), r.schema.Schema)
	if err != nil {
		return nil, fmt.Errorf("population: dates: %w", err)
	}
	ids, err := r.Population.Subjects.Matching(ctx, segments.Question{OrgID: orgID, Predicate: condition, Slots: r.schema.Slots, Now: s.Until}, "", 0)
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

// CountExisting implements [simulation.Store]. It counts contacts that were in the workflow
// before as if they might enter again.
func (r reader) CountExisting(ctx context.Context, _, _ string, s simulation.Selection, _ *predicate.Checked) (int, error) {
	return r.countSince(ctx, s.Since, s.Until)
}

// countExisting returns the number of contacts that enter at an activation now.
func (r reader) countExisting(ctx context.Context, now time.Time) (int, error) {
	existing, since := workflows.ExistingOf(r.plan.Settings(), now)
	if !existing {
		return 0, nil
	}
	return r.countSince(ctx, since, now)
}

// countSince returns the number of contacts that meet the condition of the trigger, and for whom
// it has happened since the time and before the other.
func (r reader) countSince(ctx context.Context, since, until time.Time) (int, error) {
	t := r.plan.Settings().Trigger
	switch {
	case t.Kind == language.OnDate:
		return r.countAdmitted(ctx, dateWithin(t, since, until), nil, until)
	case since.IsZero() && t.Kind == language.OnSegment:
		return r.countAdmitted(ctx, "in segment "+predicate.StringLiteral(t.Segment), nil, until)
	case since.IsZero():
		return r.countAdmitted(ctx, "exists("+t.Event.String()+")", nil, until)
	case r.plan.Settings().Where == nil:
		return r.Triggers.CountTriggered(ctx, r.orgID, r.trigger, since, until)
	}
	triggered, err := r.Triggers.Triggered(ctx, r.orgID, r.trigger, since, until, maxTriggered)
	if err != nil {
		return 0, err
	}
	ids := make([]string, 0, len(triggered))
	for id := range triggered {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	total := 0
	for page := range slices.Chunk(ids, pageOfContacts) {
		n, err := r.countAdmitted(ctx, "", page, until)
		if err != nil {
			return 0, err
		}
		total += n
	}
	return total, nil
}

// maxTriggered is the maximum number of contacts that are tested one by one.
const maxTriggered = 1_000_000

// countAdmitted returns the number of contacts that match the source, "" for any, and the
// condition of the workflow's trigger. contacts are the ids of the contacts to test, nil for all.
func (r reader) countAdmitted(ctx context.Context, source string, contacts []string, now time.Time) (int, error) {
	if where := r.plan.Settings().Where; where != nil {
		if source != "" {
			source = "(" + source + ") and "
		}
		source += "(" + where.String() + ")"
	}
	return r.count(ctx, source, contacts, now)
}

// count returns the number of contacts that match the source.
func (r reader) count(ctx context.Context, source string, contacts []string, now time.Time) (int, error) {
	condition, err := predicate.Compile(source, r.schema.Schema)
	if err != nil {
		return 0, fmt.Errorf("population: condition of the trigger: %w", err)
	}
	return r.Members.CountMatching(ctx, segments.Question{OrgID: r.orgID, Predicate: condition, Slots: r.schema.Slots, Now: now, Contacts: contacts})
}
