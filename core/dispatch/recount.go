package dispatch

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core/broadcasts"
	"github.com/mailhelm/mailhelm/core/handover"
	"github.com/mailhelm/mailhelm/core/jobs"
)

const (
	// recountEvery is the interval of the job that corrects the counts of ended broadcasts.
	recountEvery = time.Hour
	// recountFor is how long after the end of a broadcast its counts are corrected. Providers
	// repeat an event that was not taken for up to a few days.
	recountFor = 7 * 24 * time.Hour
)

// RecountArgs has the arguments of the job that corrects counts, which takes none.
type RecountArgs struct{}

// Kind returns the name of the job.
func (RecountArgs) Kind() string { return "broadcasts_recount" }

// RecountWorker returns the job that corrects the counts of ended broadcasts with failed
// recipients: a late event may prove that a message was sent whose outcome was unknown.
func (d *Dispatcher) RecountWorker(orgs func(context.Context) ([]string, error)) jobs.Worker[RecountArgs] {
	return jobs.Worker[RecountArgs]{Every: recountEvery, Timeout: 10 * time.Minute, Work: func(ctx context.Context, _ RecountArgs) error {
		return jobs.ForEachOrg(ctx, "", orgs, "counts of broadcasts", d.Recount)
	}}
}

// Recount corrects the counts of the organization's broadcasts that ended lately with failed
// recipients.
func (d *Dispatcher) Recount(ctx context.Context, orgID string) error {
	ids, err := d.Store.FailedSince(ctx, orgID, d.Clock().Add(-recountFor))
	if err != nil {
		return err
	}
	for _, id := range ids {
		if err := d.Transactor.InTx(ctx, func(ctx context.Context) error { return d.recountOne(ctx, orgID, id) }); err != nil {
			return err
		}
	}
	return nil
}

func (d *Dispatcher) recountOne(ctx context.Context, orgID, id string) error {
	found, err := d.Store.Broadcast(ctx, orgID, id)
	if err != nil || !found.State.IsOver() || found.State == broadcasts.Cancelled {
		return err
	}
	counts, err := d.Outcomes.Counts(ctx, orgID, id)
	if err != nil || !hasAll(found, counts) {
		return err
	}
	corrected := counted(found, counts)
	if corrected.Sent == found.Sent && corrected.Failed == found.Failed && corrected.Filtered == found.Filtered {
		return nil
	}
	return d.Store.Update(ctx, orgID, corrected)
}

// hasAll reports whether the counts have all recipients of a broadcast. Recipients who got it long
// before its end, because it was paused, may be deleted since.
func hasAll(b broadcasts.Broadcast, counts map[handover.State]int) bool {
	stored := 0
	for _, n := range counts {
		stored += n
	}
	return b.AudienceSize != nil && stored >= *b.AudienceSize
}
