package replay

import (
	"context"
	"log/slog"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/jobs"
)

// PurgeEvery is the interval between deletions of expired replay records, which no call
// uses any more.
const PurgeEvery = 10 * time.Minute

// PurgeArgs is the empty argument of the job that deletes expired records.
type PurgeArgs struct{}

// Kind returns the name of the purge job.
func (PurgeArgs) Kind() string { return "replay_purge" }

// PurgeWorker returns the worker of the job that deletes expired records of idempotency
// keys and of used confirmations.
func PurgeWorker(store Store, clock core.Clock, log *slog.Logger) jobs.Worker[PurgeArgs] {
	return jobs.Worker[PurgeArgs]{Every: PurgeEvery, Work: func(ctx context.Context, _ PurgeArgs) error {
		purged, err := store.Purge(ctx, clock())
		if err == nil {
			log.DebugContext(ctx, "replay records purged", "records", purged)
		}
		return err
	}}
}
