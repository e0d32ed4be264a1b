package replay

import (
	"context"
	"log/slog"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/jobs"
)

// PurgeArgs are the arguments of the purge; it has none.
type PurgeArgs struct{}

// Kind names the job.
func (PurgeArgs) Kind() string { return "replay_purge" }

// PurgeWorker forgets expired records every hour, so that the tables hold about
// a day of calls and no more.
func PurgeWorker(store Store, clock core.Clock, log *slog.Logger) jobs.Worker[PurgeArgs] {
	return jobs.Worker[PurgeArgs]{
		Every:   time.Hour,
		Timeout: 10 * time.Minute,
		Work: func(ctx context.Context, _ PurgeArgs) error {
			n, err := store.Purge(ctx, clock())
			if err == nil && n > 0 {
				log.InfoContext(ctx, "expired replay records purged", "count", n)
			}
			return err
		},
	}
}
