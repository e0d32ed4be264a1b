package replay

import (
	"context"
	"log/slog"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/jobs"
)

// PurgeEvery is the pause between deletions of expired records. Expired records have no
// effect until then, because every reader checks the expiry.
const PurgeEvery = 10 * time.Minute

// PurgeArgs has the arguments of the purge. It has none.
type PurgeArgs struct{}

// Kind returns the name of the job.
func (PurgeArgs) Kind() string { return "replay_purge" }

// PurgeWorker returns the worker that deletes expired records, so that the table has about
// one day of them.
func PurgeWorker(store Store, clock core.Clock, log *slog.Logger) jobs.Worker[PurgeArgs] {
	return jobs.Worker[PurgeArgs]{Every: PurgeEvery, Work: func(ctx context.Context, _ PurgeArgs) error {
		purged, err := store.Purge(ctx, clock())
		if err == nil {
			log.DebugContext(ctx, "replay records purged", "records", purged)
		}
		return err
	}}
}
