package access

import (
	"context"
	"log/slog"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/jobs"
)

// PurgeEvery is the pause between purges. Rows that expired and are not purged yet do
// no harm: every reader looks at their expiry.
const PurgeEvery = 10 * time.Minute

// PurgeArgs are the arguments of the purge; there are none.
type PurgeArgs struct{}

// Kind names the job.
func (PurgeArgs) Kind() string { return "access_purge" }

// PurgeWorker deletes authorization codes, grants whose code was not redeemed, used
// refresh tokens and entries of the denylist that have expired. It also deletes clients
// that registered themselves and that no person let in within a day.
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
