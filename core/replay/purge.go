package replay

import (
	"context"
	"log/slog"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/jobs"
)

// PurgeEvery is how often expired records are deleted. An expired record does no harm until
// then: every reader checks the expiry.
const PurgeEvery = 10 * time.Minute

// PurgeArgs are the arguments of the purge: none.
type PurgeArgs struct{}

// Kind names the job.
func (PurgeArgs) Kind() string { return "replay_purge" }

// PurgeWorker deletes expired records, so that the table holds about one day of them.
func PurgeWorker(store Store, clock core.Clock, log *slog.Logger) jobs.Worker[PurgeArgs] {
	return jobs.Worker[PurgeArgs]{Every: PurgeEvery, Work: func(ctx context.Context, _ PurgeArgs) error {
		purged, err := store.Purge(ctx, clock())
		if err == nil {
			log.DebugContext(ctx, "replay records purged", "records", purged)
		}
		return err
	}}
}
