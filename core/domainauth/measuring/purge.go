package measuring

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core/domainauth/figures"
	"github.com/mailhelm/mailhelm/core/jobs"
)

const (
	purgeJobEvery   = time.Hour
	purgeJobTimeout = 10 * time.Minute
	purgePortion    = 2000
)

// Limits says what is too old to be kept.
type Limits struct {
	// Rows is the first day whose records of reports are kept, and Figures the first whose
	// figures and reports are.
	Rows, Figures time.Time
}

// PurgeStore deletes what is too old.
type PurgeStore interface {
	// DomainIDs returns the ids of the organization's domains.
	DomainIDs(ctx context.Context, orgID string) ([]string, error)
	// PurgeDomain deletes at most about as many rows of each table as the limit says, each
	// table in a transaction of its own. It keeps sources about which a person decided, and the
	// last known text of each record. The result is true if there may be more. A domain whose
	// figures were deleted is to be refreshed.
	PurgeDomain(ctx context.Context, orgID, domainID string, l Limits, now time.Time, limit int) (bool, error)
}

// PurgeArgs has the arguments of the job that deletes what is too old, which takes none.
type PurgeArgs struct{}

// Kind returns the name of the job.
func (PurgeArgs) Kind() string { return "domainauth_purge" }

// PurgeWorker returns the job that deletes, every hour, the records of reports after RowDays, and
// figures, reports and the texts of records after KeptDays. Package arrivals deletes files.
func (m *Measuring) PurgeWorker() jobs.Worker[PurgeArgs] {
	return jobs.Worker[PurgeArgs]{Every: purgeJobEvery, Timeout: purgeJobTimeout, Work: func(ctx context.Context, _ PurgeArgs) error {
		return jobs.ForEachOrg(ctx, "", m.Orgs, "purge of DMARC reports", m.Purge)
	}}
}

// Purge does the work of the job for one organization.
func (m *Measuring) Purge(ctx context.Context, orgID string) error {
	now := m.Clock()
	limits := Limits{Rows: figures.AddDays(now, 1-m.RowDays), Figures: figures.AddDays(now, 1-m.KeptDays)}
	ids, err := m.Purges.DomainIDs(ctx, orgID)
	if err != nil {
		return err
	}
	for _, id := range ids {
		for more := true; more; {
			if more, err = m.Purges.PurgeDomain(ctx, orgID, id, limits, now, purgePortion); err != nil {
				return err
			}
		}
	}
	return nil
}
