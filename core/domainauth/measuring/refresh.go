package measuring

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/domainauth/figures"
	"github.com/mailhelm/mailhelm/core/domainauth/sources"
	"github.com/mailhelm/mailhelm/core/domainauth/timeline"
	"github.com/mailhelm/mailhelm/core/jobs"
)

// DomainRef names a domain.
type DomainRef struct{ OrgID, ID, Name string }

// Claim is the right to refresh a domain, until another process has it.
type Claim struct {
	// At is when it began, and Until when the domain is due again if the process ends.
	At, Until time.Time
}

// Run is a time in which every poll found the same text of a record.
type Run struct {
	Kind    timeline.Kind
	Subject string
	// Text is nil if there was no record.
	Text *string
	// First and Last are the first and the last poll.
	First, Last time.Time
}

// Stated is the policy that a report states.
type Stated struct {
	ReportID, Reporter, Policy string
	Begin, End, ReceivedAt     time.Time
}

// Finding is a finding about a source.
type Finding struct {
	Source string
	sources.Finding
	// Announced reports whether people were sent a mail about it.
	Announced bool
}

// Source is a source of a domain.
type Source struct {
	ID string
	sources.Identity
}

// Event is an event that was computed, with its title for people.
type Event struct {
	timeline.Event
	Title string
}

// RefreshStore reads what findings and events are computed from, and stores them.
type RefreshStore interface {
	// DomainsToRefresh returns domains of all organizations that are due and were not refreshed
	// after a time.
	DomainsToRefresh(ctx context.Context, now, after time.Time, limit int) ([]DomainRef, error)
	// ClaimRefresh gives the claim to the caller if the domain was not refreshed after a time.
	ClaimRefresh(ctx context.Context, d DomainRef, c Claim, after time.Time) (bool, error)
	// RefDomain returns a domain. It fails with core.CodeNotFound if there is none.
	RefDomain(ctx context.Context, orgID, id string) (DomainRef, error)
	// RecordRuns returns the runs of all records.
	RecordRuns(ctx context.Context, d DomainRef) ([]Run, error)
	// EachStated calls f for the policy of each counted report that states one.
	EachStated(ctx context.Context, d DomainRef, f func(Stated)) error
	// ReportDays returns the days on which reports count, in order.
	ReportDays(ctx context.Context, d DomainRef) ([]time.Time, error)
	// Sources returns all sources.
	Sources(ctx context.Context, d DomainRef) ([]Source, error)
	// EachDay calls f for the figures of each day and source, in the order of sources and days.
	EachDay(ctx context.Context, d DomainRef, f func(source string, day sources.Day)) error
	// Findings returns the findings that are stored.
	Findings(ctx context.Context, d DomainRef) ([]Finding, error)
	// Replace replaces the findings, and the events that are computed, in one transaction. A
	// finding that is there keeps whether it was announced. The result is false, and nothing was
	// changed, if another process has the claim now.
	Replace(ctx context.Context, d DomainRef, c Claim, findings []Finding, events []Event) (bool, error)
}

const (
	refreshJobEvery   = time.Minute
	refreshJobTimeout = 10 * time.Minute
	refreshBatch      = 50
	// refreshEvery is the shortest time between two refreshes of a domain that is not asked
	// for. It is longer than one refresh takes.
	refreshEvery   = 10 * time.Minute
	refreshTimeout = 5 * time.Minute
)

// RefreshArgs has the arguments of the job that computes findings and events, which takes none.
type RefreshArgs struct{}

// Kind returns the name of the job.
func (RefreshArgs) Kind() string { return "domainauth_refresh" }

// RefreshWorker returns the job that computes the findings and events of domains about which
// something new is known, at most every ten minutes each.
func (m *Measuring) RefreshWorker() jobs.Worker[RefreshArgs] {
	return jobs.Worker[RefreshArgs]{Every: refreshJobEvery, Timeout: refreshJobTimeout, Work: func(ctx context.Context, _ RefreshArgs) error {
		return m.RefreshDue(ctx)
	}}
}

// RefreshDue refreshes the domains that are due. After a failure it continues with the other
// domains, and returns all failures.
func (m *Measuring) RefreshDue(ctx context.Context) error {
	now := m.Clock()
	due, err := m.Refreshes.DomainsToRefresh(ctx, now, now.Add(-refreshEvery), refreshBatch)
	if err != nil {
		return err
	}
	var failures []error
	for _, d := range due {
		if err := m.refresh(ctx, d, m.Clock().Add(-refreshEvery)); err != nil {
			failures = append(failures, fmt.Errorf("refresh of domain %s: %w", d.ID, err))
		}
	}
	return errors.Join(failures...)
}

// Refresh computes the findings and events of a domain now, also if they are not due.
func (m *Measuring) Refresh(ctx context.Context, orgID, domainID string) error {
	d, err := m.Refreshes.RefDomain(ctx, orgID, domainID)
	if core.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	return m.refresh(ctx, d, m.Clock())
}

// refresh refreshes a domain that was not refreshed after a time, unless another process does.
func (m *Measuring) refresh(ctx context.Context, d DomainRef, after time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, refreshTimeout)
	defer cancel()
	now := m.Clock()
	c := Claim{At: now, Until: now.Add(refreshEvery)}
	if claimed, err := m.Refreshes.ClaimRefresh(ctx, d, c, after); err != nil || !claimed {
		return err
	}
	findings, err := m.findings(ctx, d, now)
	if err != nil {
		return err
	}
	events, err := m.events(ctx, d)
	if err != nil {
		return err
	}
	// If another process has the claim now, it reads later data.
	_, err = m.Refreshes.Replace(ctx, d, c, findings, events)
	return err
}

// findings computes the findings about all sources of a domain.
func (m *Measuring) findings(ctx context.Context, d DomainRef, now time.Time) ([]Finding, error) {
	known, err := m.Refreshes.Findings(ctx, d)
	if err != nil {
		return nil, err
	}
	dates, err := m.Refreshes.ReportDays(ctx, d)
	if err != nil {
		return nil, err
	}
	registered, err := m.Refreshes.Sources(ctx, d)
	if err != nil {
		return nil, err
	}
	identities := map[string]sources.Identity{}
	for _, s := range registered {
		identities[s.ID] = s.Identity
	}
	days := make([]sources.Day, len(dates))
	places := map[int64]int{}
	for i, date := range dates {
		days[i].Date = date
		places[date.Unix()] = i
	}
	var all []Finding
	var source string
	finish := func() {
		if identity, ok := identities[source]; ok {
			for _, f := range sources.Findings(identity, days) {
				all = append(all, Finding{Source: source, Finding: f})
			}
		}
		for i := range days {
			days[i] = sources.Day{Date: days[i].Date}
		}
	}
	err = m.Refreshes.EachDay(ctx, d, func(of string, day sources.Day) {
		if of != source {
			finish()
			source = of
		}
		// A day that is not among the days was added since; the domain is then due again.
		if i, ok := places[day.Date.Unix()]; ok {
			days[i] = day
		}
	})
	finish()
	return carryOver(all, known, figures.AddDays(now, 1-m.KeptDays)), err
}

// carryOver keeps what the figures no longer show: when a finding opened whose first days were
// deleted, and whether people were sent a mail about a finding whose first day changed.
func carryOver(computed, known []Finding, kept time.Time) []Finding {
	type key struct {
		source string
		code   sources.Code
	}
	before := map[key][]Finding{}
	for _, f := range known {
		k := key{f.Source, f.Code}
		before[k] = append(before[k], f)
	}
	edge := figures.AddDays(kept, 30)
	for i, f := range computed {
		for _, old := range before[key{f.Source, f.Code}] {
			same := old.ClosedAt.Equal(f.ClosedAt)
			if same && old.OpenedAt.Before(f.OpenedAt) && f.OpenedAt.Before(edge) {
				computed[i].OpenedAt = old.OpenedAt
			}
			if same || old.OpenedAt.Equal(f.OpenedAt) {
				computed[i].Announced = computed[i].Announced || old.Announced
			}
		}
	}
	return computed
}

// space is the name space of the ids of events (RFC 9562 section 5.5).
var space = uuid.MustParse("6f2d1d0e-6a0f-5c7e-9d0b-3b5f2f6f3a54")

// events computes the events of a domain from all polls and reports.
func (m *Measuring) events(ctx context.Context, d DomainRef) ([]Event, error) {
	runs, err := m.Refreshes.RecordRuns(ctx, d)
	if err != nil {
		return nil, err
	}
	observations := observationsOf(runs)
	err = m.Refreshes.EachStated(ctx, d, func(s Stated) {
		observations = append(observations, timeline.Observation{
			ID: s.ReportID, Origin: timeline.Reports, Observer: s.Reporter, Kind: timeline.PolicyChange, Subject: "_dmarc." + d.Name,
			Text: &s.Policy, From: s.Begin, To: s.End, ObservedAt: s.ReceivedAt,
		})
	})
	if err != nil {
		return nil, err
	}
	var events []Event
	for _, e := range timeline.Fold(timeline.Sightings(observations)) {
		e.ID = uuid.NewSHA1(space, []byte(d.ID+" "+e.ID)).String()
		events = append(events, Event{e, titleOf(e, d.Name)})
	}
	return events, nil
}

// observationsOf returns two observations of each run, its first and its last poll. The others
// show nothing else.
func observationsOf(runs []Run) []timeline.Observation {
	var all []timeline.Observation
	for _, r := range runs {
		polls := []time.Time{r.First, r.Last}
		if r.Last.Equal(r.First) {
			polls = polls[:1]
		}
		for _, at := range polls {
			all = append(all, timeline.Observation{
				ID: string(r.Kind) + " " + r.Subject + " " + at.UTC().Format(time.RFC3339Nano), Origin: timeline.DNS, Kind: r.Kind, Subject: r.Subject, Text: r.Text, From: at, To: at, ObservedAt: at,
			})
		}
	}
	return all
}
