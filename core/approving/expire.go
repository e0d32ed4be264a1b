package approving

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/approvals"
	"github.com/mailhelm/mailhelm/core/jobs"
)

const (
	// expireEvery is the interval of the job that ends overdue approvals. Until it runs, they
	// are shown as expired and cannot be approved.
	expireEvery = 10 * time.Minute
	// expireLimit is how many approvals of an organization one run ends.
	expireLimit = 500
)

// ExpireArgs has the arguments of the job that ends overdue approvals, which takes none.
type ExpireArgs struct{}

// Kind returns the name of the job.
func (ExpireArgs) Kind() string { return "approvals_expire" }

// ExpireWorker returns the job that ends the approvals that waited for [approvals.Life].
func (g Gate) ExpireWorker(transactor core.Transactor, orgs func(context.Context) ([]string, error)) jobs.Worker[ExpireArgs] {
	return jobs.Worker[ExpireArgs]{Every: expireEvery, Timeout: 5 * time.Minute, Work: func(ctx context.Context, _ ExpireArgs) error {
		return jobs.ForEachOrg(ctx, "", orgs, "approvals of sends", func(ctx context.Context, orgID string) error {
			return g.Expire(ctx, transactor, orgID)
		})
	}}
}

// Expire ends the approvals of the organization that waited for [approvals.Life]. It may be repeated,
// and may be interrupted between two approvals.
func (g Gate) Expire(ctx context.Context, transactor core.Transactor, orgID string) error {
	now := g.Clock()
	overdue, err := g.Store.Overdue(ctx, orgID, now, expireLimit)
	if err != nil {
		return err
	}
	for _, a := range overdue {
		err := transactor.InTx(ctx, func(ctx context.Context) error {
			return g.end(ctx, orgID, a, decision{State: approvals.Expired}, access.System(), now)
		})
		if err != nil && core.AsError(err).Code != core.CodeConflict {
			return err
		}
	}
	return nil
}
