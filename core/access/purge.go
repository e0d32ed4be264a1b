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

// PurgeStores are where there is something to forget.
type PurgeStores struct {
	Grants   GrantStore
	Sessions SessionStore
	Signing  Store
	Open     OpenClientStore
	Factors  SecondFactorStore
}

// PurgeWorker forgets authorization codes, grants whose code nobody redeemed, used
// refresh tokens, the denylist's entries, sessions and passkey ceremonies that have
// expired, signing keys whose last token has, and clients that registered themselves and that
// nobody let in within a day.
func PurgeWorker(from PurgeStores, clock core.Clock, log *slog.Logger) jobs.Worker[PurgeArgs] {
	return jobs.Worker[PurgeArgs]{Every: PurgeEvery, Work: func(ctx context.Context, _ PurgeArgs) error {
		now := clock()
		ofGrants, err := from.Grants.PurgeGrants(ctx, now)
		if err != nil {
			return err
		}
		ofSessions, err := from.Sessions.PurgeSessions(ctx, now)
		if err != nil {
			return err
		}
		ceremonies, err := from.Factors.PurgeCeremonies(ctx, now)
		if err != nil {
			return err
		}
		ofKeys, err := from.Signing.PurgeSigningKeys(ctx, now.Add(-SigningOverlap))
		if err != nil {
			return err
		}
		ofClients, err := from.Open.PurgeDynamicClients(ctx, now.Add(-unusedLifetime))
		if err == nil {
			log.DebugContext(ctx, "expired access purged", "grants", ofGrants, "sessions", ofSessions, "ceremonies", ceremonies, "signing_keys", ofKeys, "clients", ofClients)
		}
		return err
	}}
}
