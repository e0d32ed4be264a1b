package webhooks

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/jobs"
)

const (
	purgeEvery = time.Hour
	purgeBatch = 1000 // deliveries that one statement deletes
)

// PurgeArgs has the arguments of the purge job, which takes none.
type PurgeArgs struct{}

// Kind returns the name of the purge job.
func (PurgeArgs) Kind() string { return "webhooks_purge" }

// PurgeWorker returns the job that deletes, every hour, deliveries that are older than Kept
// or whose endpoint is deleted, and secrets that no longer sign.
func PurgeWorker(store Store, orgs func(context.Context) ([]string, error), clock core.Clock) jobs.Worker[PurgeArgs] {
	return jobs.Worker[PurgeArgs]{Every: purgeEvery, Work: func(ctx context.Context, _ PurgeArgs) error {
		return jobs.ForEachOrg(ctx, "", orgs, "purge of webhook deliveries", func(ctx context.Context, orgID string) error {
			for {
				now := clock()
				n, err := store.PurgeDeliveries(ctx, orgID, now.Add(-Kept), now, purgeBatch)
				if err != nil || n < purgeBatch {
					return err
				}
			}
		})
	}}
}
