package people

import (
	"context"
	"log/slog"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/jobs"
)

// purgeEvery is how often what has expired is forgotten. What is not purged yet does
// no harm: every reader looks at its expiry.
const purgeEvery = time.Hour

// PurgeArgs are the arguments of the purge; there are none.
type PurgeArgs struct{}

// Kind names the job.
func (PurgeArgs) Kind() string { return "people_purge" }

// PurgeWorker forgets links of resets and devices that have expired, and warnings that
// no page shows any more.
func PurgeWorker(store Store, clock core.Clock, log *slog.Logger) jobs.Worker[PurgeArgs] {
	return jobs.Worker[PurgeArgs]{Every: purgeEvery, Work: func(ctx context.Context, _ PurgeArgs) error {
		now := clock()
		purged, err := store.Purge(ctx, now, now.Add(-WarningKept))
		if err == nil {
			log.DebugContext(ctx, "expired links and devices purged", "count", purged)
		}
		return err
	}}
}
