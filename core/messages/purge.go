package messages

import (
	"context"
	"log/slog"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/jobs"
)

// PurgeEvery is the interval between deletions of expired data. Reads already omit expired
// data before it is deleted.
const PurgeEvery = time.Hour

// purgeBatch is the maximum number of rows of each table that one transaction deletes, so
// that new events can be stored between transactions.
const purgeBatch = 1000

// PurgeArgs has the arguments of the purge job, which takes none.
type PurgeArgs struct{}

// Kind returns the name of the purge job.
func (PurgeArgs) Kind() string { return "messages_purge" }

// Purger deletes an organization's data from before a given time; limit is the maximum
// number of deleted rows of each table. It returns the number of deleted rows; 0 means that
// all such data is deleted.
type Purger interface {
	Purge(ctx context.Context, orgID string, before time.Time, limit int) (int, error)
}

// PurgeConfig configures [PurgeWorker].
type PurgeConfig struct {
	// From are the stores whose data is purged.
	From  []Purger
	Orgs  func(ctx context.Context) ([]string, error)
	Org   func(ctx context.Context, id string) (core.Org, error)
	Clock core.Clock
	Log   *slog.Logger
}

// PurgeWorker returns the worker that deletes old messages, events and statistics. Data is
// kept for the retention of the plan, and for 365 days at least. The worker deletes whole
// UTC days, and the same days in all stores. If it deleted an event and kept the statistics
// of its day, the event would be counted again when it arrives again.
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

// purgeBefore returns the beginning of the oldest UTC day whose data must be kept.
func purgeBefore(now time.Time, retentionDays int) time.Time {
	// The margin of one hour protects reads of a time window that begins up to a minute
	// before the retention period: the rows must still exist.
	oldest := now.Add(-time.Hour).UTC().AddDate(0, 0, -core.MessageDays(retentionDays))
	return oldest.Truncate(24 * time.Hour)
}
