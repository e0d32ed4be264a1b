package signing

import (
	"context"
	"log/slog"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/jobs"
)

// purgeEvery is the pause between two runs of the job that deletes old signing keys. An old
// key has no effect before it is deleted, because [Keys] checks when it was retired.
const purgeEvery = 10 * time.Minute

// PurgeArgs is the empty argument of the job that deletes old signing keys.
type PurgeArgs struct{}

// Kind returns the name of the job that deletes old signing keys.
func (PurgeArgs) Kind() string { return "signing_purge" }

// PurgeWorker returns the worker that deletes signing keys whose last token has expired.
func PurgeWorker(store Store, clock core.Clock, log *slog.Logger) jobs.Worker[PurgeArgs] {
	return jobs.Worker[PurgeArgs]{Every: purgeEvery, Work: func(ctx context.Context, _ PurgeArgs) error {
		purged, err := store.PurgeSigningKeys(ctx, clock().Add(-Overlap))
		if err == nil {
			log.DebugContext(ctx, "retired signing keys purged", "keys", purged)
		}
		return err
	}}
}
