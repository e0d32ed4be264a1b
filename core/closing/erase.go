package closing

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/jobs"
)

const (
	// eraseEvery is the pause between two runs of the job that erases deleted organizations.
	eraseEvery = 10 * time.Minute
	// eraseTimeout limits one run. The next run continues.
	eraseTimeout = 9 * time.Minute
	// eraseBatch is the maximum number of rows or objects that one transaction deletes. Other
	// writes wait for a batch at most.
	eraseBatch = 500
	// objectPatience is how long after the end of the waiting time a run waits for a store of
	// objects that is not available, such as a bucket whose access key was revoked. After it,
	// the rows are erased, and the objects remain.
	objectPatience = 7 * 24 * time.Hour
)

// EraseArgs is the empty argument of the job that erases deleted organizations.
type EraseArgs struct{}

// Kind returns the name of the job that erases deleted organizations.
func (EraseArgs) Kind() string { return "org_erase" }

// Eraser erases the data of deleted organizations.
type Eraser struct {
	Store OrgStore
	Orgs  Orgs
	// Objects deletes all objects of an organization, such as received mail and images. It
	// deletes in batches and may be repeated.
	Objects func(ctx context.Context, orgID string) error
	// Account deletes the simulated sending account of an organization. It may be repeated.
	Account func(ctx context.Context, orgID string) error
	Clock   core.Clock
	Log     *slog.Logger
}

// Worker returns the worker of the job that erases organizations whose waiting time has ended.
// An organization that cannot be erased does not keep others from being erased.
func (e Eraser) Worker() jobs.Worker[EraseArgs] {
	return jobs.Worker[EraseArgs]{Every: eraseEvery, Timeout: eraseTimeout, Work: func(ctx context.Context, _ EraseArgs) error {
		due := func(ctx context.Context) ([]string, error) {
			return e.Store.DeletedOrgs(ctx, e.Clock().Add(-core.DeletionWait))
		}
		return jobs.ForEachOrg(ctx, "", due, "erase", e.Erase)
	}}
}

// Erase deletes all data of an organization whose waiting time has ended, in batches. It may be
// interrupted and repeated. It does nothing for any other organization.
func (e Eraser) Erase(ctx context.Context, orgID string) error {
	now := e.Clock()
	begun, err := e.Store.BeginErasing(ctx, orgID, now.Add(-core.DeletionWait), now)
	if err != nil || !begun {
		return err
	}
	org, err := e.Orgs.Org(ctx, orgID)
	if err != nil {
		return fmt.Errorf("organization: %w", err)
	}
	if err := e.Objects(ctx, orgID); err != nil {
		if ctx.Err() != nil || now.Before(org.EraseAt().Add(objectPatience)) {
			return fmt.Errorf("objects: %w", err)
		}
		e.Log.WarnContext(ctx, "objects of a deleted organization remain in their store", "org_id", orgID, "cause", err)
	}
	if err := e.Account(ctx, orgID); err != nil {
		return fmt.Errorf("simulated account: %w", err)
	}
	erased, err := e.eraseRows(ctx, orgID)
	if err != nil {
		return err
	}
	if err := e.Store.EraseOrg(ctx, orgID); err != nil {
		return fmt.Errorf("organization: %w", err)
	}
	e.Log.InfoContext(ctx, "deleted organization erased", "org_id", orgID, "slug", org.Slug, "rows", erased)
	return nil
}

// eraseRows deletes the rows of an organization from all tables, and its queued jobs. It
// repeats this until it finds no row, because a running job may have stored some.
func (e Eraser) eraseRows(ctx context.Context, orgID string) (int, error) {
	total := 0
	for {
		pass, err := e.Store.EraseJobs(ctx, orgID)
		if err != nil {
			return total, fmt.Errorf("jobs: %w", err)
		}
		for _, table := range e.Store.Tables() {
			n, err := e.eraseTable(ctx, table, orgID)
			pass += n
			if err != nil {
				return total + pass, errors.Join(err, ctx.Err())
			}
		}
		total += pass
		if pass == 0 {
			return total, nil
		}
	}
}

// eraseTable deletes the rows of an organization from one table, in batches.
func (e Eraser) eraseTable(ctx context.Context, table, orgID string) (int, error) {
	total := 0
	for {
		n, err := e.Store.EraseRows(ctx, table, orgID, eraseBatch)
		total += n
		if err != nil {
			return total, fmt.Errorf("rows of %s: %w", table, err)
		}
		if n < eraseBatch {
			return total, nil
		}
	}
}
