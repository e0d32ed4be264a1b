package outgoing

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/segments"
	"github.com/mailhelm/mailhelm/core/workflows"
	"github.com/mailhelm/mailhelm/core/workflows/language"
	"github.com/mailhelm/mailhelm/core/workflows/simulation"
	workflowstore "github.com/mailhelm/mailhelm/storage/workflows"
)

// Population loads the contacts of an organization for simulations of workflows; it is a
// [simulation.Store].
type Population struct {
	Data     segments.SubjectStore
	Schemas  WorkflowSchemas
	Entries  workflows.EntryStore
	Triggers workflowstore.TriggerStore
}

// pageOfPopulation is the number of contacts that are read at once.
const pageOfPopulation = 1000

// CountExisting returns the number of contacts who would enter at an activation at s.Until.
func (p Population) CountExisting(ctx context.Context, orgID, workflowID string, s simulation.Selection, where *predicate.Checked) (int, error) {
	total := 0
	for after := ""; ; {
		ids, err := p.candidates(ctx, orgID, s, after)
		if err != nil {
			return 0, err
		}
		entering, err := p.entering(ctx, orgID, workflowID, ids, where, s.Until)
		if err != nil {
			return 0, err
		}
		total += entering
		if len(ids) < pageOfPopulation {
			return total, nil
		}
		after = ids[len(ids)-1]
	}
}

// candidates returns a page of contacts for whom the trigger has happened.
func (p Population) candidates(ctx context.Context, orgID string, s simulation.Selection, after string) ([]string, error) {
	if s.Trigger.Kind != language.OnDate {
		return p.Entries.Candidates(ctx, orgID, triggerOf(s), s.Since, s.Until, after, pageOfPopulation)
	}
	schema, err := p.Schemas.PredicateSchema(ctx, orgID)
	if err != nil {
		return nil, err
	}
	condition, err := predicate.Compile(s.Trigger.Within(s.Since, s.Until), schema.Schema)
	if err != nil {
		return nil, err
	}
	return p.Data.Matching(ctx, segments.Question{OrgID: orgID, Predicate: condition, Slots: schema.Slots, Now: s.Until}, after, pageOfPopulation)
}

// entering returns how many of the contacts are active, match the condition and were never in
// the workflow.
func (p Population) entering(ctx context.Context, orgID, workflowID string, ids []string, where *predicate.Checked, now time.Time) (int, error) {
	if len(ids) == 0 {
		return 0, nil
	}
	var refs predicate.References
	if where != nil {
		refs = where.References()
	}
	subjects, err := p.Subjects(ctx, orgID, ids, refs)
	if err != nil {
		return 0, err
	}
	past := map[string]workflows.Run{}
	if workflowID != "" {
		if past, err = p.Entries.Past(ctx, orgID, workflowID, ids); err != nil {
			return 0, err
		}
	}
	n := 0
	for id, subject := range subjects {
		if _, was := past[id]; !was && (where == nil || where.Match(subject, now) == predicate.True) {
			n++
		}
	}
	return n, nil
}

// CountTriggered returns the number of contacts for whom the trigger has happened.
func (p Population) CountTriggered(ctx context.Context, orgID string, s simulation.Selection) (int, error) {
	if s.Trigger.Kind != language.OnDate {
		return p.Triggers.Count(ctx, orgID, triggerOf(s), s.Since, s.Until)
	}
	total := 0
	for after := ""; ; {
		ids, err := p.candidates(ctx, orgID, s, after)
		if err != nil {
			return 0, err
		}
		if total += len(ids); len(ids) < pageOfPopulation {
			return total, nil
		}
		after = ids[len(ids)-1]
	}
}

// Triggered returns the times of the trigger for up to limit contacts.
func (p Population) Triggered(ctx context.Context, orgID string, s simulation.Selection, limit int) (map[string][]simulation.Trigger, error) {
	if s.Trigger.Kind == language.OnDate {
		return p.dates(ctx, orgID, s, limit)
	}
	times, err := p.Triggers.Times(ctx, orgID, triggerOf(s), s.Since, s.Until, limit)
	triggered := map[string][]simulation.Trigger{}
	for _, t := range times {
		of := triggered[t.ContactID]
		if t.Entered {
			triggered[t.ContactID] = append(of, simulation.Trigger{At: t.At})
		} else if len(of) > 0 {
			of[len(of)-1].Until = t.At
		}
	}
	return triggered, err
}

// dates returns the times at which the date of contacts lets them enter.
func (p Population) dates(ctx context.Context, orgID string, s simulation.Selection, limit int) (map[string][]simulation.Trigger, error) {
	triggered := map[string][]simulation.Trigger{}
	for after := ""; len(triggered) < limit; {
		ids, err := p.candidates(ctx, orgID, s, after)
		if err != nil {
			return nil, err
		}
		subjects, err := p.Subjects(ctx, orgID, ids, predicate.References{Attributes: []string{s.Trigger.Attribute}})
		if err != nil {
			return nil, err
		}
		for id, subject := range subjects {
			at := time.UnixMicro(subject.Attributes[s.Trigger.Attribute].Moment.Micros).UTC()
			if len(triggered) < limit {
				triggered[id] = []simulation.Trigger{{At: s.Trigger.EnterAt(at)}}
			}
		}
		if len(ids) < pageOfPopulation {
			break
		}
		after = ids[len(ids)-1]
	}
	return triggered, nil
}

// Subjects returns the data of active contacts, with their events of any time.
func (p Population) Subjects(ctx context.Context, orgID string, ids []string, refs predicate.References) (map[string]predicate.Subject, error) {
	schema, err := p.Schemas.PredicateSchema(ctx, orgID)
	if err != nil {
		return nil, err
	}
	return p.Data.Subjects(ctx, segments.SubjectQuery{OrgID: orgID, Contacts: ids, Schema: schema, Refs: refs})
}

func triggerOf(s simulation.Selection) workflows.Trigger {
	return workflows.TriggerOf(s.Trigger, map[string]string{s.Trigger.Segment: s.SegmentID})
}
