package channels

import (
	"context"
	"errors"
	"fmt"

	"github.com/mailhelm/mailhelm/core/jobs"
)

// VerifyArgs is the empty argument of the job that checks the DNS records of tracking
// domains.
type VerifyArgs struct{}

// Kind returns the name of the job that checks the DNS records of tracking domains.
func (VerifyArgs) Kind() string { return "tracking_domain_verify" }

// VerifyWorker returns the job that checks whether the DNS records of pending tracking
// domains are published. It checks a domain every 2 minutes in the first hour, every 10
// minutes on the first day, then hourly. The first check after a week that finds a record
// missing gives the domain the status failed.
func (c *Channels) VerifyWorker() jobs.Worker[VerifyArgs] {
	return jobs.Worker[VerifyArgs]{
		Work: func(ctx context.Context, _ VerifyArgs) error {
			return jobs.ForEachOrg(ctx, "", c.Orgs, "tracking domains", c.Verify)
		},
		Every: everyTwoMinutes, Timeout: SyncEvery,
	}
}

// Verify checks the DNS records of those tracking domains of one organization that are due
// for a check. While no name server answers, a domain stays pending, however old it is.
func (c *Channels) Verify(ctx context.Context, orgID string) error {
	rows, err := c.Store.UnverifiedDomains(ctx, orgID)
	if err != nil {
		return err
	}
	if err := c.describe(ctx, orgID, rows); err != nil {
		return err
	}
	var failures []error
	for _, d := range rows {
		now := c.Clock()
		if !d.due(now) {
			continue
		}
		published, err := c.arePublished(ctx, orgID, d.Records)
		if err != nil {
			failures = append(failures, fmt.Errorf("records of %s: %w", d.Domain, err))
		}
		if err := c.Store.SetTrackingStatus(ctx, orgID, d.withCheck(published, err, now)); err != nil {
			return err
		}
	}
	if len(failures) > 0 {
		c.Log.WarnContext(ctx, "DNS does not answer", "org_id", orgID, "error", errors.Join(failures...))
	}
	return nil
}

// arePublished reports whether all the DNS records are published. It fails if no name
// server answers.
func (c *Channels) arePublished(ctx context.Context, orgID string, records []Record) (bool, error) {
	for _, r := range records {
		found, err := c.DNS.IsPublished(ctx, orgID, r)
		if err != nil || !found {
			return false, err
		}
	}
	return true, nil
}
