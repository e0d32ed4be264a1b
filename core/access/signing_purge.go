package access

import (
	"context"
	"log/slog"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/jobs"
)

// purgeSigningKeysEvery is the pause between purges. A key that is not purged yet does
// no harm: [SigningKeys] looks at its retirement.
const purgeSigningKeysEvery = 10 * time.Minute

// PurgeSigningKeysArgs are the arguments of the purge; there are none.
type PurgeSigningKeysArgs struct{}

// Kind names the job.
func (PurgeSigningKeysArgs) Kind() string { return "signing_purge" }

// PurgeSigningKeysWorker deletes signing keys whose last token has expired.
func PurgeSigningKeysWorker(store SigningStore, clock core.Clock, log *slog.Logger) jobs.Worker[PurgeSigningKeysArgs] {
	return jobs.Worker[PurgeSigningKeysArgs]{Every: purgeSigningKeysEvery, Work: func(ctx context.Context, _ PurgeSigningKeysArgs) error {
		purged, err := store.PurgeSigningKeys(ctx, clock().Add(-SigningOverlap))
		if err == nil {
			log.DebugContext(ctx, "retired signing keys purged", "keys", purged)
		}
		return err
	}}
}
