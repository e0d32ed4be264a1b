package access

import (
	"context"
	"log/slog"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/jobs"
)

// PurgeEvery is the pause between two runs of the job that deletes expired rows. Expired
// rows have no effect before they are deleted, because every reader checks the expiry.
const PurgeEvery = 10 * time.Minute

// PurgeArgs is the empty argument of the job that deletes expired rows.
type PurgeArgs struct{}

// Kind returns the name of the job that deletes expired rows, such as authorization codes
// and used refresh tokens.
func (PurgeArgs) Kind() string { return "access_purge" }

// PurgeWorker returns the worker that deletes expired rows: codes, grants whose code was not
// redeemed, used refresh tokens and denylist entries. It also deletes self-registered
// clients that got no grant within a day.
func PurgeWorker(from Stores, clock core.Clock, log *slog.Logger) jobs.Worker[PurgeArgs] {
	return jobs.Worker[PurgeArgs]{Every: PurgeEvery, Work: func(ctx context.Context, _ PurgeArgs) error {
		now := clock()
		ofGrants, err := from.Grants.PurgeGrants(ctx, now)
		if err != nil {
			return err
		}
		clients, err := from.OpenClients.PurgeDynamicClients(ctx, now.Add(-unusedLifetime))
		if err == nil {
			log.DebugContext(ctx, "expired grants, tokens and clients purged", "of_grants", ofGrants, "clients", clients)
		}
		return err
	}}
}
