package people

import (
	"context"
	"log/slog"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/jobs"
)

// purgeEvery is the pause between two runs of the job that deletes expired rows. Expired
// rows have no effect before they are deleted, because every reader checks the expiry.
const purgeEvery = 10 * time.Minute

// PurgeArgs is the empty argument of the job that deletes expired rows.
type PurgeArgs struct{}

// Kind returns the name of the job that deletes expired rows.
func (PurgeArgs) Kind() string { return "people_purge" }

// PurgeStores has the stores from which the job people_purge deletes expired rows.
type PurgeStores struct {
	Store    Store
	Sessions SessionStore
	Passkeys PasskeyStore
	Resets   ResetLinks
}

// ResetLinks deletes links that reset a password; the store of core/passwordchange
// implements it.
type ResetLinks interface {
	// PurgeResets deletes reset links that have expired at now and returns their number.
	PurgeResets(ctx context.Context, now time.Time) (int, error)
}

// PurgeWorker returns the worker that deletes expired sessions, passkey ceremonies, reset
// links and known devices. It also deletes warnings about wrong passwords that no page
// shows any more.
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
		links, err := from.Resets.PurgeResets(ctx, now)
		if err != nil {
			return err
		}
		others, err := from.Store.Purge(ctx, now, now.Add(-WarningKept))
		if err == nil {
			log.DebugContext(ctx, "expired sessions, ceremonies, links and devices purged",
				"sessions", sessions, "ceremonies", ceremonies, "links_and_devices", links+others)
		}
		return err
	}}
}
