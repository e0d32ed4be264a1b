package messages

import (
	"context"
	"log/slog"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/jobs"
)

// PurgeEvery is the pause between deletions of expired data. Reads omit such data even
// before they are deleted.
const PurgeEvery = time.Hour

// purgeBatch is the number of rows of a table that one transaction deletes, so that events
// can be stored in between.
const purgeBatch = 1000

// PurgeArgs has the arguments of the purge. It has none.
type PurgeArgs struct{}

// Kind returns the name of the job.
func (PurgeArgs) Kind() string { return "messages_purge" }

// Purger deletes data of an organization that are older than a time, at most limit rows of
// each table. It returns the number of deleted rows; 0 means that nothing is left.
type Purger interface {
	Purge(ctx context.Context, orgID string, before time.Time, limit int) (int, error)
}

// PurgeConfig configures [PurgeWorker].
type PurgeConfig struct {
	// From are the stores to purge.
	From  []Purger
	Orgs  func(ctx context.Context) ([]string, error)
	Org   func(ctx context.Context, id string) (core.Org, error)
	Clock core.Clock
	Log   *slog.Logger
}

// PurgeWorker returns the worker that deletes messages, events and figures that no caller
// may read any more. Messages expire after a year, figures after the plan's retention. It
// deletes whole UTC days, up to the same day everywhere. So the remaining data agree, and an
// old event that arrives again is not counted with a partial day.
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

// purgeBefore returns the beginning of the oldest UTC day of which data may be read.
func purgeBefore(now time.Time, retentionDays int) time.Time {
	// Windows may begin a minute late, and comparing reports read nothing older.
	oldest := now.Add(-time.Hour).UTC().AddDate(0, 0, -max(keptDays, retentionDays))
	return oldest.Truncate(24 * time.Hour)
}
