package arrivals

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/jobs"
)

const (
	purgeEvery   = time.Hour
	purgeTimeout = 10 * time.Minute
	purgeBatch   = 500
)

// PurgeArgs has the arguments of the purge job, which takes none.
type PurgeArgs struct{}

// Kind returns the name of the purge job.
func (PurgeArgs) Kind() string { return "dmarc_files_purge" }

// PurgeWorker returns the job that deletes, every hour, the entries of files that were received
// before [Kept], and reporters without a decision and without held files. The reader
// has deleted the objects before.
func PurgeWorker(store PurgeStore, orgs func(context.Context) ([]string, error), clock core.Clock) jobs.Worker[PurgeArgs] {
	return jobs.Worker[PurgeArgs]{Every: purgeEvery, Timeout: purgeTimeout, Work: func(ctx context.Context, _ PurgeArgs) error {
		return jobs.ForEachOrg(ctx, "", orgs, "purge of files with DMARC reports", func(ctx context.Context, orgID string) error {
			before := clock().Add(-Kept)
			for {
				n, err := store.DeleteFiles(ctx, orgID, before, purgeBatch)
				if err != nil {
					return err
				}
				if n < purgeBatch {
					return store.ForgetReporters(ctx, orgID, before)
				}
			}
		})
	}}
}
