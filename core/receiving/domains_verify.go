package receiving

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/jobs"
)

// VerifyDomainIn names the receiving domain to check.
type VerifyDomainIn struct {
	DomainIn

	checked Domain // the domain with the result of the check, from Prepare
}

func (r *Receiving) domainsVerify() core.Operation {
	return core.Declare(core.Op[VerifyDomainIn, Domain]{
		Name:    "inbound_domains_verify",
		Title:   "Check a receiving domain",
		Purpose: "Checks now whether the DNS has the records of a receiving domain, and returns the domain. Use it after publishing the records; the background check does the same within minutes or, later, hours. It checks a verified domain no more.",
		Example: `{"domain": "orders.example.com"}`,
		Effect:  core.Writes,
		Scopes:  []core.Scope{core.InboundManage},
		Fails:   []core.Code{core.CodeNotFound},
		// The same call a minute later must look at the DNS again.
		IgnoresKey: true,
		Prepare: func(ctx context.Context, c *core.Call, in VerifyDomainIn) (VerifyDomainIn, error) {
			d, err := r.domainOf(ctx, c, in.Domain)
			if err == nil && d.Status != Verified {
				d, err = r.check(ctx, c.Principal.Org.ID, d)
				if errors.Is(err, errNoAnswer) { // the domain says so
					err = nil
				}
			}
			in.checked = d
			return in, err
		},
		Do: func(ctx context.Context, c *core.Call, in VerifyDomainIn) (Domain, error) {
			c.SetSubject(in.checked.ID)
			if err := r.Store.SaveCheck(ctx, c.Principal.Org.ID, in.checked); err != nil {
				return Domain{}, err
			}
			r.publishSoon(c)
			return r.Store.Domain(ctx, c.Principal.Org.ID, in.checked.ID)
		},
	})
}

// errNoAnswer is wrapped by the error of a check that could not be made.
var errNoAnswer = errors.New("the DNS does not answer")

// check looks up the records of a domain that is not verified, and returns the domain with the
// result. If a record could not be looked up, the domain has the state Failed, and check also
// returns an error that wraps errNoAnswer.
func (r *Receiving) check(ctx context.Context, orgID string, d Domain) (Domain, error) {
	var fault string
	var failure error
	records := make([]Record, len(d.Records))
	for i, record := range d.Records {
		found, err := r.isPublished(ctx, orgID, record)
		switch {
		case ctx.Err() != nil:
			return d, ctx.Err()
		case err != nil && failure == nil:
			fault, failure = unchecked(record), fmt.Errorf("%w: %w", errNoAnswer, err)
		case err == nil && !found && fault == "":
			fault = missing(record)
		}
		record.Verified = err == nil && found
		records[i] = record
	}
	now := r.Clock()
	d.Records, d.Status, d.LastError = records, PendingDNS, &fault
	due := now.Add(waitAfter(now.Sub(d.CreatedAt)))
	d.CheckAt = &due
	switch {
	case failure != nil:
		d.Status = Failed
	case fault == "":
		d.Status, d.LastError, d.CheckAt = Verified, nil, nil
		d = d.changed(now)
	}
	return d, failure
}

// waitAfter returns how long to wait for the next background check of a domain of an age. Most
// owners publish the records within the hour, some must ask another person to do it.
func waitAfter(age time.Duration) time.Duration {
	switch {
	case age < time.Hour:
		return time.Minute
	case age < 24*time.Hour:
		return 10 * time.Minute
	case age < 7*24*time.Hour:
		return time.Hour
	}
	return 6 * time.Hour
}

const (
	verifyEvery = time.Minute
	// verifyBatch is the number of domains that one run of the job checks, and verifyTimeout its
	// duration at most.
	verifyBatch   = 500
	verifyTimeout = 10 * time.Minute
)

// VerifyArgs is the empty argument of the job that checks the records of receiving domains.
type VerifyArgs struct{}

// Kind returns the name of the job.
func (VerifyArgs) Kind() string { return "receiving_domain_verify" }

// VerifyWorker returns the job that checks the DNS records of receiving domains that are not
// verified: every minute in the first hour, every 10 minutes on the first day, hourly in the
// first week, then every 6 hours.
func (r *Receiving) VerifyWorker() jobs.Worker[VerifyArgs] {
	return jobs.Worker[VerifyArgs]{Every: verifyEvery, Timeout: verifyTimeout, Work: func(ctx context.Context, _ VerifyArgs) error { return r.VerifyDue(ctx) }}
}

// VerifyDue checks the domains that are due. It logs once if the DNS does not answer, and fails
// only if the database does.
func (r *Receiving) VerifyDue(ctx context.Context) error {
	due, err := r.Store.DomainsToCheck(ctx, r.Clock(), verifyBatch)
	if err != nil {
		return err
	}
	unanswered := 0
	var last error
	for _, one := range due {
		d, err := r.check(ctx, one.OrgID, one.Domain)
		if err != nil && !errors.Is(err, errNoAnswer) {
			return err
		}
		if err != nil {
			unanswered, last = unanswered+1, err
		}
		if err := r.Store.SaveCheck(ctx, one.OrgID, d); err != nil {
			return err
		}
	}
	if unanswered > 0 {
		r.Logger.WarnContext(ctx, "the DNS does not answer for receiving domains", "domains", unanswered, "error", last)
	}
	if r.Wake != nil && len(due) > 0 {
		r.Wake()
	}
	return nil
}
