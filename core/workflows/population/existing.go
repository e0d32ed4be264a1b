package population

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/workflows"
	"github.com/mailhelm/mailhelm/core/workflows/engine"
	"github.com/mailhelm/mailhelm/core/workflows/language"
	"github.com/mailhelm/mailhelm/core/workflows/simulation"
)

// CountExisting implements [simulation.Store].
func (r reader) CountExisting(ctx context.Context, _, workflowID string, s simulation.Selection, _ *predicate.Checked) (int, error) {
	return r.countSince(ctx, workflowID, s.Since, s.Until)
}

// countExisting returns the number of contacts that enter at an activation now.
func (r reader) countExisting(ctx context.Context, workflowID string, now time.Time) (int, error) {
	existing, since := workflows.ExistingOf(r.plan.Settings(), now)
	if !existing {
		return 0, nil
	}
	return r.countSince(ctx, workflowID, since, now)
}

// countSince returns the number of contacts that meet the condition of the trigger, for whom it
// has happened since the time and before the other, and who may enter the workflow again if they
// were in it before.
func (r reader) countSince(ctx context.Context, workflowID string, since, until time.Time) (int, error) {
	runs, err := r.Runs.Counts(ctx, r.orgID, []string{workflowID})
	if err != nil {
		return 0, err
	}
	source, contacts := r.sourceOf(since, until), []string(nil)
	if source == "" {
		if len(runs) == 0 && r.plan.Settings().Where == nil {
			return r.Triggers.CountTriggered(ctx, r.orgID, r.trigger, since, until)
		}
		triggered, err := r.Triggers.Triggered(ctx, r.orgID, r.trigger, since, until, maxTriggered)
		if err != nil {
			return 0, err
		}
		contacts = slices.Sorted(maps.Keys(triggered))
	}
	if len(runs) > 0 {
		return r.countEntering(ctx, workflowID, source, contacts, until)
	}
	if source != "" {
		return r.count(ctx, r.admitted(source), nil, until)
	}
	total := 0
	for page := range slices.Chunk(contacts, pageOfContacts) {
		n, err := r.count(ctx, r.admitted(""), page, until)
		if err != nil {
			return 0, err
		}
		total += n
	}
	return total, nil
}

// maxTriggered is the maximum number of contacts that are tested one by one.
const maxTriggered = 1_000_000

// sourceOf returns the predicate that the trigger has happened since the time and before the
// other, "" if only the times of the trigger tell.
func (r reader) sourceOf(since, until time.Time) string {
	t := r.plan.Settings().Trigger
	switch {
	case t.Kind == language.OnDate:
		return dateWithin(t, since, until)
	case since.IsZero() && t.Kind == language.OnSegment:
		return "in segment " + predicate.StringLiteral(t.Segment)
	case since.IsZero():
		return "exists(" + t.Event.String() + ")"
	}
	return ""
}

// admitted returns the predicate that a contact matches the source, "" for any, and the condition
// of the workflow's trigger.
func (r reader) admitted(source string) string {
	where := r.plan.Settings().Where
	switch {
	case where == nil:
		return source
	case source == "":
		return where.String()
	}
	return "(" + source + ") and (" + where.String() + ")"
}

// countEntering counts the contacts that match the source and may enter a workflow that had runs.
// contacts are the ids of those to count, sorted, if the source is "".
func (r reader) countEntering(ctx context.Context, workflowID, source string, contacts []string, now time.Time) (int, error) {
	if source != "" {
		var err error
		if contacts, err = r.matching(ctx, r.admitted(source), nil, now); err != nil {
			return 0, err
		}
	}
	total := 0
	for page := range slices.Chunk(contacts, pageOfContacts) {
		var err error
		if source == "" && r.plan.Settings().Where != nil {
			if page, err = r.matching(ctx, r.admitted(""), page, now); err != nil {
				return 0, err
			}
		}
		out, err := r.keptOut(ctx, workflowID, page, now)
		if err != nil {
			return 0, err
		}
		total += len(page) - out
	}
	return total, nil
}

// keptOut returns how many of the contacts may not enter the workflow: those with an active run,
// and those whom the rules of re-entry keep out; see package runner.
func (r reader) keptOut(ctx context.Context, workflowID string, contacts []string, now time.Time) (int, error) {
	past, err := r.Past.Past(ctx, r.orgID, workflowID, contacts)
	if err != nil {
		return 0, err
	}
	out, left := 0, []string{}
	for id, last := range past {
		switch {
		case r.plan.Settings().Reentry == language.Once || !last.State.IsOver():
			out++
		case last.ExitKind == engine.ByName:
			left = append(left, id)
		}
	}
	subjects, err := r.Subjects(ctx, r.orgID, left, r.plan.References())
	for _, id := range left {
		if subject, active := subjects[id]; !active || r.plan.Leaves(subject, now) {
			out++
		}
	}
	return out, err
}
