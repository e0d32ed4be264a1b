package access

import (
	"context"
	"log/slog"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/jobs"
)

// PurgeEvery is how often what has expired is forgotten. What is not purged yet
// does no harm: whoever reads it looks at its expiry.
const PurgeEvery = 10 * time.Minute

// PurgeArgs are the arguments of the purge; there are none.
type PurgeArgs struct{}

// Kind names the job.
func (PurgeArgs) Kind() string { return "access_purge" }

// PurgeWorker forgets authorization codes, used refresh tokens, the denylist's
// entries and sessions that have expired.
func PurgeWorker(grants GrantStore, sessions SessionStore, clock core.Clock, log *slog.Logger) jobs.Worker[PurgeArgs] {
	return jobs.Worker[PurgeArgs]{Every: PurgeEvery, Work: func(ctx context.Context, _ PurgeArgs) error {
		now := clock()
		ofGrants, err := grants.PurgeGrants(ctx, now)
		if err != nil {
			return err
		}
		ofSessions, err := sessions.PurgeSessions(ctx, now)
		if err == nil {
			log.DebugContext(ctx, "expired access purged", "grants", ofGrants, "sessions", ofSessions)
		}
		return err
	}}
}
