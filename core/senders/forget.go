package senders

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/jobs"
)

// Kept is how long a claim that was not verified is kept after its code has expired, so that its
// owner can see the state of it.
const Kept = 30 * 24 * time.Hour

const (
	forgetEvery = time.Hour
	forgetBatch = 1000 // rows that one statement deletes
)

// ForgetArgs has the arguments of the job that deletes old claims, which takes none.
type ForgetArgs struct{}

// Kind returns the name of the job.
func (ForgetArgs) Kind() string { return "senders_forget" }

// ForgetWorker returns the job that deletes, every hour, claims that were not verified within
// the duration Kept after their code expired: their addresses may belong to strangers. It also
// deletes counts of starts that no limit needs any more. orgs returns the ids of all
// organizations.
func ForgetWorker(store Store, starts StartStore, orgs func(context.Context) ([]string, error), clock core.Clock) jobs.Worker[ForgetArgs] {
	return jobs.Worker[ForgetArgs]{Every: forgetEvery, Work: func(ctx context.Context, _ ForgetArgs) error {
		err := inBatches(func() (int, error) { return starts.ForgetStarts(ctx, clock().Add(-countedFor), forgetBatch) })
		if err != nil {
			err = fmt.Errorf("deletion of counts of codes: %w", err)
		}
		return errors.Join(err, jobs.ForEachOrg(ctx, "", orgs, "deletion of claims that were not verified", func(ctx context.Context, orgID string) error {
			return inBatches(func() (int, error) { return store.ForgetClaims(ctx, orgID, clock().Add(-Kept), forgetBatch) })
		}))
	}}
}

// inBatches calls forget until it deletes less than forgetBatch rows.
func inBatches(forget func() (int, error)) error {
	for {
		if n, err := forget(); err != nil || n < forgetBatch {
			return err
		}
	}
}
