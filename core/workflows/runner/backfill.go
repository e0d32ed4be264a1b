package runner

import (
	"context"
	"errors"
	"time"

	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/segments"
	"github.com/mailhelm/mailhelm/core/workflows"
)

// pageOfContacts is the number of existing contacts that enter in one transaction.
const pageOfContacts = 1000

// backfill lets one page of existing contacts enter: those for whom the trigger has happened
// before the activation, or whose date has come. more is true if there may be others.
//
// The position is stored in the transaction in which the contacts of the page enter, so a
// process that is killed repeats no page.
func (r *Runner) backfill(ctx context.Context, orgID string, w workflows.Workflow) (more bool, err error) {
	if !w.IsLive() || w.Backfill == nil && w.Trigger.Kind != workflows.OnDate {
		return false, nil
	}
	err = r.Transactor.InTx(ctx, func(ctx context.Context) error {
		more = false // the transaction may run again
		w, err := r.Store.Workflow(ctx, orgID, w.ID)
		if err != nil || !w.IsLive() {
			return err
		}
		if w.Backfill == nil && !r.beginSweep(&w) {
			return nil
		}
		contacts, err := r.candidates(ctx, orgID, w)
		if err != nil {
			return err
		}
		if err := r.start(ctx, orgID, w, r.entriesOf(w, contacts)); err != nil {
			return err
		}
		if more = len(contacts) == pageOfContacts; more {
			w.Backfill.After = contacts[len(contacts)-1]
		} else {
			w.SweptUntil, w.Backfill = w.Backfill.At, nil
		}
		return r.Store.Update(ctx, orgID, w)
	})
	if errors.Is(err, errInvalid) {
		return false, r.Revalidate(ctx, orgID)
	}
	return more && err == nil, err
}

// sweepEvery is the interval at which dates are looked for.
const sweepEvery = time.Minute

// beginSweep begins to look for the dates that have come since the last look. It reports false
// if that was less than sweepEvery ago.
func (r *Runner) beginSweep(w *workflows.Workflow) bool {
	now := r.Clock()
	if w.Trigger.Kind != workflows.OnDate || now.Sub(w.SweptUntil) < sweepEvery {
		return false
	}
	w.Backfill = &workflows.Backfill{Since: w.SweptUntil, At: now}
	return true
}

// entriesOf returns an entry for each contact of a page.
func (r *Runner) entriesOf(w workflows.Workflow, contacts []string) []workflows.Entry {
	cause := workflows.BackEnrolled
	if w.Trigger.Kind == workflows.OnDate && w.ActivatedAt != nil && !w.Backfill.Since.Before(*w.ActivatedAt) {
		cause = workflows.DateReached
	}
	entries := make([]workflows.Entry, len(contacts))
	for i, id := range contacts {
		entries[i] = workflows.Entry{ContactID: id, Cause: cause, SourceKey: w.Trigger.Key, OccurredAt: w.Backfill.At}
	}
	return entries
}

// candidates returns the next page of contacts.
func (r *Runner) candidates(ctx context.Context, orgID string, w workflows.Workflow) ([]string, error) {
	if w.Trigger.Kind != workflows.OnDate {
		return r.Entries.Candidates(ctx, orgID, w.Trigger, w.Backfill.Since, w.Backfill.At, w.Backfill.After, pageOfContacts)
	}
	p, err := r.plans.of(ctx, orgID, w.ID, w.CurrentVersion)
	if err != nil {
		return nil, err
	}
	condition, err := dateWithin(p, w.Backfill.Since, w.Backfill.At)
	if err != nil {
		return nil, err
	}
	q := segments.Question{OrgID: orgID, Predicate: condition, Slots: p.schema.Slots, Now: r.Clock()}
	return r.Subjects.Matching(ctx, q, w.Backfill.After, pageOfContacts)
}

// dateWithin returns the condition that the date of a contact lets it enter after the time from
// and at the time until or before.
func dateWithin(p plan, from, until time.Time) (*predicate.Checked, error) {
	checked, err := predicate.Compile(p.Settings().Trigger.Within(from, until), p.schema.Schema)
	if err != nil {
		return nil, errors.Join(errInvalid, err)
	}
	return checked, nil
}
