package measuring

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/domainauth/lookup"
	"github.com/mailhelm/mailhelm/core/domainauth/readiness"
	"github.com/mailhelm/mailhelm/core/jobs"
)

// Domain is a domain to poll. Times that are unknown are zero.
type Domain struct {
	OrgID, ID, Name string
	// Snapshot has the last answers of DNS. It is the zero one before the first.
	Snapshot  lookup.Snapshot
	MeasureAt time.Time
	CreatedAt time.Time
}

// Poll is the result of a poll.
type Poll struct {
	Snapshot lookup.Snapshot
	// Lease is the time that ClaimPoll stored, and Next that of the next poll. Next takes effect
	// unless the domain was given another time since.
	Lease, Next time.Time
}

// PollStore stores polls.
type PollStore interface {
	// DomainsToPoll returns domains of all organizations whose poll is due, the longest due
	// first.
	DomainsToPoll(ctx context.Context, now time.Time, limit int) ([]Domain, error)
	// DomainToPoll returns one domain. It fails with core.CodeNotFound if there is none.
	DomainToPoll(ctx context.Context, orgID, id string) (Domain, error)
	// ClaimPoll moves the next poll of a domain to a later time, so that no other process polls
	// it now. The result is false if another process did that first.
	ClaimPoll(ctx context.Context, d Domain, until time.Time) (bool, error)
	// SavePoll stores the snapshot and the texts of its fresh records, in one transaction. The
	// result is true if a record has another text than before; the domain is then due for a
	// refresh. A poll that began before the last one that was stored has no effect.
	SavePoll(ctx context.Context, orgID, domainID string, p Poll) (bool, error)
	// Request has a domain polled and refreshed now, unless that was requested after a time. It
	// returns whether it did, and when it was requested last. Of concurrent calls, one succeeds.
	Request(ctx context.Context, orgID, domainID string, now, after time.Time) (bool, time.Time, error)
}

// How often domains are polled. Without an answer, a domain is polled again after the time
// for which there has been none, so the time doubles.
const (
	pollEvery    = time.Hour
	pollSpread   = 20 * time.Minute
	firstBackoff = 5 * time.Minute
	lastBackoff  = 6 * time.Hour
)

const (
	pollJobEvery   = time.Minute
	pollJobTimeout = 10 * time.Minute
	// pollLease is longer than one look takes.
	pollLease   = 5 * time.Minute
	pollBatch   = 200
	pollsAtOnce = 8
)

// PollArgs has the arguments of the job that polls DNS: one domain, or none for all that are
// due.
type PollArgs struct {
	OrgID    string `json:"org_id,omitempty"`
	DomainID string `json:"domain_id,omitempty"`
}

// Kind returns the name of the job.
func (PollArgs) Kind() string { return "domainauth_poll" }

// PollWorker returns the job that polls DNS about each domain, about once an hour. For one
// domain, it also refreshes it.
func (m *Measuring) PollWorker() jobs.Worker[PollArgs] {
	return jobs.Worker[PollArgs]{Every: pollJobEvery, Timeout: pollJobTimeout, Work: func(ctx context.Context, a PollArgs) error {
		if a.DomainID == "" {
			return m.PollDue(ctx)
		}
		return m.measure(ctx, a.OrgID, a.DomainID)
	}}
}

// PollDue polls the domains that are due, eight at once. It logs once if DNS does not answer,
// and fails only if the database does.
func (m *Measuring) PollDue(ctx context.Context) error {
	if m.Resolver == nil {
		return nil
	}
	var unanswered atomic.Int64
	for {
		due, err := m.Polls.DomainsToPoll(ctx, m.Clock(), pollBatch)
		if err != nil {
			return err
		}
		if err := m.pollAll(ctx, due, &unanswered); err != nil {
			return err
		}
		if len(due) < pollBatch {
			break
		}
	}
	if n := unanswered.Load(); n > 0 {
		m.Log.WarnContext(ctx, "DNS does not answer about domains whose DMARC reports are read", "domains", n)
	}
	return ctx.Err()
}

// pollAll polls domains, and returns the first error of the database.
func (m *Measuring) pollAll(ctx context.Context, due []Domain, unanswered *atomic.Int64) error {
	next := make(chan Domain)
	failures := make(chan error, len(due))
	var running sync.WaitGroup
	for range min(pollsAtOnce, len(due)) {
		running.Go(func() {
			for d := range next {
				answered, err := m.poll(ctx, d)
				if err != nil {
					failures <- err
				} else if !answered {
					unanswered.Add(1)
				}
			}
		})
	}
	for _, d := range due {
		if ctx.Err() == nil {
			next <- d
		}
	}
	close(next)
	running.Wait()
	close(failures)
	return <-failures
}

// poll asks DNS about a domain, unless another process does, and refreshes the domain if a record
// changed. It reports whether DNS answered
// about the DMARC record, or was not asked.
func (m *Measuring) poll(ctx context.Context, d Domain) (bool, error) {
	now := m.Clock()
	lease := now.Add(pollLease)
	claimed, err := m.Polls.ClaimPoll(ctx, d, lease)
	if err != nil || !claimed {
		return true, err
	}
	polled, err := m.IsPolled(ctx, d.OrgID)
	if err != nil {
		return true, err
	}
	if !polled {
		d.MeasureAt = lease
		_, err = m.Polls.ClaimPoll(ctx, d, m.nextPoll(now, 0))
		return true, err
	}
	keys, err := m.keysOf(ctx, d)
	if err != nil {
		return true, err
	}
	snapshot := lookup.Look(ctx, m.Resolver, lookup.Domain{Name: d.Name, Keys: keys}, d.Snapshot, now)
	if ctx.Err() != nil { // DNS was not asked about all
		return true, ctx.Err()
	}
	answered := snapshot.At.Equal(now)
	var outage time.Duration
	if !answered {
		since := d.CreatedAt
		if snapshot.At.After(since) {
			since = snapshot.At
		}
		outage = max(now.Sub(since), firstBackoff)
	}
	changed, err := m.Polls.SavePoll(ctx, d.OrgID, d.ID, Poll{Snapshot: snapshot, Lease: lease, Next: m.nextPoll(now, outage)})
	if err == nil && changed { // people wait for this event, and it is rare
		err = m.Refresh(ctx, d.OrgID, d.ID)
	}
	return answered, err
}

// nextPoll returns the time of the next poll. outage is the time for which DNS has not answered,
// 0 if it does.
func (m *Measuring) nextPoll(now time.Time, outage time.Duration) time.Time {
	wait := pollEvery
	if outage > 0 {
		wait = min(outage, lastBackoff)
	}
	spread := float64(wait) * float64(pollSpread) / float64(pollEvery)
	return now.Add(wait + time.Duration(spread*(m.Random()-0.5)))
}

// keysOf returns the names of the DKIM keys with which the sending account signs mail of a
// domain: those of the longest identity that is the domain or above it.
func (m *Measuring) keysOf(ctx context.Context, d Domain) ([]string, error) {
	var names []string
	for name := d.Name; strings.Contains(name, "."); _, name, _ = strings.Cut(name, ".") {
		names = append(names, name)
	}
	tokens, err := m.Tokens.Tokens(ctx, d.OrgID, names)
	if err != nil {
		return nil, err
	}
	var keys []string
	for _, name := range names {
		for _, token := range tokens[name] {
			keys = append(keys, token+"._domainkey."+name)
		}
		if len(keys) > 0 {
			break
		}
	}
	return keys, nil
}

// measure polls and refreshes one domain. A domain that was deleted is not measured.
func (m *Measuring) measure(ctx context.Context, orgID, domainID string) error {
	d, err := m.Polls.DomainToPoll(ctx, orgID, domainID)
	if core.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if m.Resolver != nil && !d.MeasureAt.After(m.Clock()) {
		if _, err := m.poll(ctx, d); err != nil {
			return err
		}
	}
	return m.Refresh(ctx, orgID, domainID)
}

// Request has a domain measured soon, if its last requested measurement is an hour ago. It takes
// part in the transaction of ctx. Of concurrent calls, one is queued. retryAfter is 0 if the
// measurement is queued, otherwise whole seconds.
func (m *Measuring) Request(ctx context.Context, orgID, domainID string, now time.Time) (queued bool, retryAfter time.Duration, err error) { //nolint:nonamedreturns // says which is which
	queued, last, err := m.Polls.Request(ctx, orgID, domainID, now, now.Add(-readiness.MinRemeasureInterval))
	if err != nil {
		return false, 0, err
	}
	if !queued {
		return false, readiness.RetryAfter(last, now), nil
	}
	_, err = m.Queue.EnqueueOnce(ctx, PollArgs{OrgID: orgID, DomainID: domainID})
	return err == nil, 0, err
}

// EnrolArgs has the arguments of the job that adds domains, which takes none.
type EnrolArgs struct{}

// Kind returns the name of the job.
func (EnrolArgs) Kind() string { return "domainauth_enrol" }

// enrolEvery is how soon a sending domain that was verified is polled.
const enrolEvery = 15 * time.Minute

// EnrolWorker returns the job that adds the verified sending domains of all organizations.
func (m *Measuring) EnrolWorker() jobs.Worker[EnrolArgs] {
	return jobs.Worker[EnrolArgs]{Every: enrolEvery, Timeout: pollJobTimeout, Work: func(ctx context.Context, _ EnrolArgs) error {
		return jobs.ForEachOrg(ctx, "", m.Orgs, "domains for DMARC reports", func(ctx context.Context, orgID string) error {
			return m.Enroller.Enrol(ctx, orgID, m.Clock())
		})
	}}
}
