package senders

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/jobs"
)

// Kept is how long a claim that was not verified is kept after its code has expired, so that its
// owner can see the state of it.
const Kept = 30 * 24 * time.Hour

const (
	forgetEvery = time.Hour
	forgetBatch = 1000 // claims that one statement deletes
)

// ForgetArgs has the arguments of the job that deletes old claims, which takes none.
type ForgetArgs struct{}

// Kind returns the name of the job.
func (ForgetArgs) Kind() string { return "senders_forget" }

// ForgetWorker returns the job that deletes, every hour, claims that were not verified within
// the duration Kept after their code expired: their addresses may belong to strangers. orgs
// returns the ids of all organizations.
func ForgetWorker(store Store, orgs func(context.Context) ([]string, error), clock core.Clock) jobs.Worker[ForgetArgs] {
	return jobs.Worker[ForgetArgs]{Every: forgetEvery, Work: func(ctx context.Context, _ ForgetArgs) error {
		return jobs.ForEachOrg(ctx, "", orgs, "deletion of claims that were not verified", func(ctx context.Context, orgID string) error {
			for {
				n, err := store.ForgetClaims(ctx, orgID, clock().Add(-Kept), forgetBatch)
				if err != nil || n < forgetBatch {
					return err
				}
			}
		})
	}}
}
