package activities

import (
	"context"
	"log/slog"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/jobs"
)

// PurgeEvery is how often what is no longer kept is forgotten. What is not purged yet
// is not shown either.
const PurgeEvery = time.Hour

// purgeBatch is how many rows go in one transaction, so that writes come in between.
const purgeBatch = 1000

// PurgeArgs are the arguments of the purge; there are none.
type PurgeArgs struct{}

// Kind names the job.
func (PurgeArgs) Kind() string { return "activities_purge" }

// Purger forgets.
type Purger interface {
	// PurgeActivities forgets activities that were received before a time: at most
	// limit of those that happened after the place, oldest first. It returns how many
	// went and the last one's place, to go on behind; nil when nothing is left.
	//
	// Nothing is received before it happens, so the old end of the table has all of
	// them, and what was received late and is to stay is passed over once a run.
	PurgeActivities(ctx context.Context, orgID string, before time.Time, after *core.After, limit int) (int, *core.After, error)
	// PurgeKeys forgets at most limit keys that have expired and returns how many.
	PurgeKeys(ctx context.Context, orgID string, now time.Time, limit int) (int, error)
}

// PurgeConfig is what [PurgeWorker] needs.
type PurgeConfig struct {
	From  Purger
	Orgs  func(ctx context.Context) ([]string, error)
	Org   func(ctx context.Context, id string) (core.Org, error)
	Clock core.Clock
	Log   *slog.Logger
}

// PurgeWorker forgets activities 365 days after they were received, or when the plan
// keeps them no longer, and idempotency keys when they have expired. What happened
// once keeps its claim.
func PurgeWorker(cfg PurgeConfig) jobs.Worker[PurgeArgs] {
	return jobs.Worker[PurgeArgs]{Every: PurgeEvery, Work: func(ctx context.Context, _ PurgeArgs) error {
		return jobs.ForEachOrg(ctx, "", cfg.Orgs, "purge of activities", cfg.purge)
	}}
}

func (cfg PurgeConfig) purge(ctx context.Context, orgID string) error {
	org, err := cfg.Org(ctx, orgID)
	if err != nil {
		return err
	}
	now := cfg.Clock()
	before, all := keptSince(now, org.RetentionDays), 0
	for after := (*core.After)(nil); ; {
		purged, last, err := cfg.From.PurgeActivities(ctx, orgID, before, after, purgeBatch)
		if err != nil {
			return err
		}
		all += purged
		if last == nil {
			break
		}
		after = last
	}
	for {
		purged, err := cfg.From.PurgeKeys(ctx, orgID, now, purgeBatch)
		if err != nil {
			return err
		}
		if purged < purgeBatch {
			break
		}
	}
	if all > 0 {
		cfg.Log.InfoContext(ctx, "old activities purged", "org_id", orgID, "before", before, "rows", all)
	}
	return nil
}
