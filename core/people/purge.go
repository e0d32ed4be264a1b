package people

import (
	"context"
	"log/slog"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/jobs"
)

// purgeEvery is the pause between purges. Rows that expired and are not purged yet do
// no harm: every reader looks at their expiry.
const purgeEvery = 10 * time.Minute

// PurgeArgs are the arguments of the purge; there are none.
type PurgeArgs struct{}

// Kind names the job.
func (PurgeArgs) Kind() string { return "people_purge" }

// PurgeStores are the stores that the purge empties.
type PurgeStores struct {
	Store    Store
	Sessions SessionStore
	Passkeys PasskeyStore
}

// PurgeWorker deletes sessions, passkey ceremonies, links of resets and known devices
// that have expired, and warnings that no page shows any more.
func PurgeWorker(from PurgeStores, clock core.Clock, log *slog.Logger) jobs.Worker[PurgeArgs] {
	return jobs.Worker[PurgeArgs]{Every: purgeEvery, Work: func(ctx context.Context, _ PurgeArgs) error {
		now := clock()
		sessions, err := from.Sessions.PurgeSessions(ctx, now)
		if err != nil {
			return err
		}
		ceremonies, err := from.Passkeys.PurgeCeremonies(ctx, now)
		if err != nil {
			return err
		}
		others, err := from.Store.Purge(ctx, now, now.Add(-WarningKept))
		if err == nil {
			log.DebugContext(ctx, "expired sessions, ceremonies, links and devices purged",
				"sessions", sessions, "ceremonies", ceremonies, "links_and_devices", others)
		}
		return err
	}}
}
