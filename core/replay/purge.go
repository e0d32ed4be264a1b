package replay

import (
	"context"
	"log/slog"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/jobs"
)

// PurgeEvery is how often expired records are forgotten. A record that is not
// purged yet does no harm: whoever reads it looks at its expiry.
const PurgeEvery = 10 * time.Minute

// PurgeArgs are the arguments of the purge; there are none.
type PurgeArgs struct{}

// Kind names the job.
func (PurgeArgs) Kind() string { return "replay_purge" }

// PurgeWorker forgets what has expired, so that the records stay a day's worth.
func PurgeWorker(store Store, clock core.Clock, log *slog.Logger) jobs.Worker[PurgeArgs] {
	return jobs.Worker[PurgeArgs]{Every: PurgeEvery, Work: func(ctx context.Context, _ PurgeArgs) error {
		purged, err := store.Purge(ctx, clock())
		if err == nil {
			log.DebugContext(ctx, "replay records purged", "records", purged)
		}
		return err
	}}
}
