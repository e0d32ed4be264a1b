package activities

import (
	"context"
	"log/slog"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/jobs"
)

// PurgeEvery is the pause between runs of the purge job. Reads omit expired activities even
// before they are purged.
const PurgeEvery = time.Hour

// purgeBatch is the maximum number of rows that one transaction deletes. A small batch does
// not delay other writes.
const purgeBatch = 1000

// PurgeArgs has the arguments of the purge job, which needs none.
type PurgeArgs struct{}

// Kind returns the name of the purge job.
func (PurgeArgs) Kind() string { return "activities_purge" }

// Purger deletes old activities and expired idempotency keys from the database.
type Purger interface {
	// PurgeActivities deletes at most limit activities that were received before the given
	// time. It visits activities in the order in which they happened, beginning after the
	// given position. It returns how many it deleted and the position at which to continue,
	// or nil at the end.
	//
	// An activity never happens after its receipt. So it is enough to visit activities that
	// happened before the given time. Activities among them that were received later are
	// kept, and are visited once per run.
	PurgeActivities(ctx context.Context, orgID string, before time.Time, after *core.After, limit int) (int, *core.After, error)
	// PurgeKeys deletes at most limit expired idempotency keys and returns how many it
	// deleted.
	PurgeKeys(ctx context.Context, orgID string, now time.Time, limit int) (int, error)
}

// PurgeConfig configures [PurgeWorker].
type PurgeConfig struct {
	From  Purger
	Orgs  func(ctx context.Context) ([]string, error)
	Org   func(ctx context.Context, id string) (core.Org, error)
	Clock core.Clock
	Log   *slog.Logger
}

// PurgeWorker returns the job that deletes activities 365 days after their receipt, or
// earlier if the organization's plan has a shorter retention. It also deletes expired
// idempotency keys. It never deletes the stored pairs of contact and name by which mode
// Once finds duplicates.
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
