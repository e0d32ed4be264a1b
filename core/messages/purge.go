package messages

import (
	"context"
	"log/slog"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/jobs"
)

// PurgeEvery is how often what nobody may read any more is forgotten. What is not
// purged yet does no harm: every read looks at its window.
const PurgeEvery = time.Hour

// purgeBatch is how many rows of a table go in one transaction, so that events
// come in between.
const purgeBatch = 1000

// PurgeArgs are the arguments of the purge; there are none.
type PurgeArgs struct{}

// Kind names the job.
func (PurgeArgs) Kind() string { return "messages_purge" }

// Purger forgets what it keeps of an organization from before a time: at most limit
// rows of each table. It returns how many rows went; none means that nothing is
// left.
type Purger interface {
	Purge(ctx context.Context, orgID string, before time.Time, limit int) (int, error)
}

// PurgeConfig is what [PurgeWorker] needs.
type PurgeConfig struct {
	// From are where there is something to forget.
	From  []Purger
	Orgs  func(ctx context.Context) ([]string, error)
	Org   func(ctx context.Context, id string) (core.Org, error)
	Clock core.Clock
	Log   *slog.Logger
}

// PurgeWorker forgets messages, events and figures that are older than anybody may
// read: single messages reach a year back, figures as far as the plan. Everything
// goes by whole UTC days and up to the same day, so that what is left agrees, and
// an old event that comes once more is counted with nothing it was counted with
// before.
func PurgeWorker(cfg PurgeConfig) jobs.Worker[PurgeArgs] {
	return jobs.Worker[PurgeArgs]{Every: PurgeEvery, Work: func(ctx context.Context, _ PurgeArgs) error {
		return jobs.ForEachOrg(ctx, "", cfg.Orgs, "purge", cfg.purge)
	}}
}

func (cfg PurgeConfig) purge(ctx context.Context, orgID string) error {
	org, err := cfg.Org(ctx, orgID)
	if err != nil {
		return err
	}
	before, all := purgeBefore(cfg.Clock(), org.RetentionDays), 0
	for _, from := range cfg.From {
		for {
			purged, err := from.Purge(ctx, orgID, before, purgeBatch)
			if err != nil {
				return err
			}
			if purged == 0 {
				break
			}
			all += purged
		}
	}
	if all > 0 {
		cfg.Log.InfoContext(ctx, "old messages and figures purged", "org_id", orgID, "before", before, "rows", all)
	}
	return nil
}

// purgeBefore is the beginning of the last UTC day that something may be read of.
func purgeBefore(now time.Time, retentionDays int) time.Time {
	// Windows have a minute's grace, and a report that compares looks no further.
	oldest := now.Add(-time.Hour).UTC().AddDate(0, 0, -max(keptDays, retentionDays))
	return oldest.Truncate(24 * time.Hour)
}
