package retention

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/jobs"
)

const (
	every   = 6 * time.Hour
	timeout = time.Hour
	// batchRows is the maximum number of records that one transaction deletes.
	batchRows = 200
	// batchContacts is the number of contacts that are erased between two pauses, each in its own
	// transaction.
	batchContacts = 20
	// maxBatches is the maximum number of batches of a kind that a run deletes for one
	// organization. The next run continues.
	maxBatches = 2_000
	// minPause is the pause after a batch. After a slow batch it is longer, so that the job uses
	// at most a fifth of the time of the database.
	minPause   = 20 * time.Millisecond
	pauseRatio = 4
	maxPause   = 5 * time.Second
	// noteEvery is the interval at which runs are noted that deleted nothing.
	noteEvery = 24 * time.Hour
)

// Args is the empty argument of the job.
type Args struct{}

// Kind returns the name of the job.
func (Args) Kind() string { return "retention_apply" }

// Config has the dependencies of the job. All fields are required.
type Config struct {
	Settings
	Contacts Contacts
	OrgIDs   func(ctx context.Context) ([]string, error)
	Log      *slog.Logger
	// Sleep waits between two batches. It fails if ctx ends.
	Sleep func(ctx context.Context, d time.Duration) error
}

// Worker returns the job that deletes old records of all organizations. It may be interrupted
// and run again.
func Worker(cfg Config) jobs.Worker[Args] {
	return jobs.Worker[Args]{Every: every, Timeout: timeout, Work: func(ctx context.Context, _ Args) error {
		err := jobs.ForEachOrg(ctx, "", cfg.OrgIDs, "retention", cfg.apply)
		return errors.Join(err, cfg.purgeServerJobs(ctx))
	}}
}

// apply deletes the old records of an organization. A kind that fails does not keep others from
// being deleted.
func (cfg Config) apply(ctx context.Context, orgID string) error {
	org, err := cfg.Orgs(ctx, orgID)
	if err != nil {
		return err
	}
	periods, err := cfg.Periods(ctx, orgID)
	if err != nil {
		return err
	}
	deleted := map[string]int{}
	var failures error
	for _, p := range periods {
		n, err := cfg.applyPeriod(ctx, org, p)
		if err != nil {
			failures = errors.Join(failures, fmt.Errorf("%s: %w", p.Name, err))
		}
		if n > 0 {
			deleted[string(p.Name)] = n
		}
		if err := ctx.Err(); err != nil {
			failures = errors.Join(failures, err)
			break
		}
	}
	if len(deleted) == 0 {
		return failures
	}
	cfg.Log.InfoContext(ctx, "old records deleted", "org_id", orgID, "rows", deleted)
	entry := access.AuditEntry{Actor: access.System(), Action: "org.retention_applied", OrgID: orgID, Subject: orgID, Detail: deleted}
	// The records are gone, so the line is written even if ctx has ended.
	return errors.Join(failures, access.RecordAudit(context.WithoutCancel(ctx), cfg.Audit, cfg.Clock(), entry))
}

// applyPeriod deletes the old records of a kind and notes the run.
func (cfg Config) applyPeriod(ctx context.Context, org core.Org, p Period) (int, error) {
	now := cfg.Clock()
	deleted := 0
	var failure error
	if before, ok := p.Before(now, org); ok {
		deleted, failure = cfg.purge(ctx, org.ID, p.Name, before)
	}
	if deleted == 0 && p.RanAt != nil && now.Sub(*p.RanAt) < noteEvery {
		return 0, failure
	}
	return deleted, errors.Join(failure, cfg.Store.NoteRun(context.WithoutCancel(ctx), org.ID, p.Name, now, deleted))
}

// purge deletes records in batches and returns their number.
func (cfg Config) purge(ctx context.Context, orgID string, kind Name, before time.Time) (int, error) {
	batch := func(ctx context.Context) (int, bool, error) {
		n, err := cfg.Store.DeleteOld(ctx, orgID, kind, before, batchRows)
		return n, n < batchRows, err
	}
	if kind == ArchivedContacts {
		batch = cfg.contactBatches(orgID, before)
	}
	deleted, err := cfg.inBatches(ctx, batch)
	return deleted, cfg.finish(ctx, kind, deleted, err)
}

// purgeServerJobs deletes old failed jobs of no organization.
func (cfg Config) purgeServerJobs(ctx context.Context) error {
	before := cfg.Clock().UTC().AddDate(0, 0, -ServerJobsDays)
	deleted, err := cfg.inBatches(ctx, func(ctx context.Context) (int, bool, error) {
		n, err := cfg.Store.DeleteServerJobs(ctx, before, batchRows)
		return n, n < batchRows, err
	})
	if deleted > 0 {
		cfg.Log.InfoContext(ctx, "old failed jobs of no organization deleted", "jobs", deleted)
	}
	if err != nil {
		return fmt.Errorf("failed jobs of no organization: %w", err)
	}
	return nil
}

// inBatches deletes batch after batch, with pauses, until one is the last. It returns the number
// of deleted records.
func (cfg Config) inBatches(ctx context.Context, batch func(context.Context) (n int, last bool, err error)) (int, error) {
	deleted := 0
	for range maxBatches {
		began := time.Now() //nolint:forbidigo // measures the load of the database
		n, end, err := batch(ctx)
		deleted += n
		if err != nil || end {
			return deleted, err
		}
		if err := cfg.Sleep(ctx, pauseAfter(time.Since(began))); err != nil { //nolint:forbidigo // as above
			return deleted, err
		}
	}
	return deleted, nil
}

// finish removes remnants of erased contacts from the files of the database.
func (cfg Config) finish(ctx context.Context, kind Name, deleted int, err error) error {
	if kind != ArchivedContacts || deleted == 0 {
		return err
	}
	return errors.Join(err, cfg.Contacts.Scrub(context.WithoutCancel(ctx)))
}

// pauseAfter returns the pause after a batch that took a time.
func pauseAfter(took time.Duration) time.Duration {
	return min(max(pauseRatio*took, minPause), maxPause)
}

// contactBatches returns the function that erases the next archived contacts. It visits each
// contact once, so that one that cannot be erased now does not delay the others.
func (cfg Config) contactBatches(orgID string, before time.Time) func(context.Context) (int, bool, error) {
	var after *ArchivedContact
	return func(ctx context.Context) (int, bool, error) {
		due, err := cfg.Store.ArchivedContacts(ctx, orgID, before, after, batchContacts)
		if err != nil {
			return 0, true, err
		}
		erased := 0
		for _, c := range due {
			done, err := cfg.Contacts.EraseArchived(ctx, orgID, c.ID, before)
			if err != nil {
				return erased, true, err
			}
			if done {
				erased++
			}
			after = &c
		}
		return erased, len(due) < batchContacts, nil
	}
}
