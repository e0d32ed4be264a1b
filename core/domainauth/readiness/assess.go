package readiness

import (
	"time"

	"github.com/mailhelm/mailhelm/core/domainauth/figures"
	"github.com/mailhelm/mailhelm/core/mailauth/dmarc"
)

// WindowDays is the number of days of the window.
const WindowDays = 30

// TTL is the recommended time to live of the record while the policy changes. It is short,
// so that a change can be taken back quickly.
const TTL = 300 * time.Second

// Figures is what an assessment is computed from.
type Figures struct {
	// Now is the time of the measurement.
	Now time.Time
	// Published is what DNS says about the domain. A caller whose query failed passes the
	// last answer; it must not pass a failure as a domain without a record.
	Published dmarc.Discovery
	// PolicySince is when the present policy was published: when the [Handling] of the domain
	// last changed. It is zero if that is unknown.
	PolicySince time.Time
	// ReportAddress is the mail address that receives the domain's reports for the service,
	// without "mailto:". It must need no escaping in a URI. It is empty if there is none.
	ReportAddress string
	// Rows has the messages. Only reports that count are part of it.
	Rows []figures.Row
	// Coverage has the reports, or any summary of them with the same days and reporters.
	Coverage []Coverage
	// Sources has the registered sources, each once. The source of a row that is not among
	// them is unreviewed and unknown, and first seen at an unknown time.
	Sources []Source
	// Acknowledgement is the latest one of the domain, nil without one.
	Acknowledgement *Acknowledgement
}

// Coverage is one UTC day that a report of one reporter covers.
type Coverage struct {
	// Day is any time in the UTC day. See [figures.DaysOfReport].
	Day time.Time
	// Reporter is the organization that reports, in a form in which equal ones are equal.
	Reporter string
}

// Source is a registered source and the time of its first message. FirstSeen is zero if the
// time is unknown.
type Source struct {
	figures.Source
	FirstSeen time.Time
}

// Assessment is the result of a measurement.
type Assessment struct {
	// MeasuredAt is the time of the measurement. The window is From to To, two midnights in
	// UTC; To is not part of it.
	MeasuredAt, From, To time.Time
	// Current is the present rung (see [Handling.Current]), empty without a policy. Target is
	// the next rung, empty at the last one.
	Current, Target dmarc.Policy
	// Criteria has each criterion of the target once, in a fixed order.
	Criteria []Criterion
	// Impact has the failing mail that a stricter policy concerns.
	Impact Impact
	// Ready reports whether the target may be published: there is a target, all blocking
	// criteria are met and nothing is to be acknowledged.
	Ready bool
	// PendingAcknowledgement reports whether the acknowledgement is all that is missing. It
	// is never true together with Ready.
	PendingAcknowledgement bool
	// Acknowledgement is the valid one for this step, nil without one.
	Acknowledgement *Acknowledgement
	// Record is the text of the TXT record to publish at _dmarc and the domain. Changes are
	// its differences from the record that is published there now. Both are withheld (empty)
	// unless Ready.
	Record  string
	Changes []Change
	// TTL is the recommended time to live of the record.
	TTL time.Duration
}

// Assess measures whether the policy of a domain may go up by one rung. The result depends
// on the figures alone, and not on their order.
func Assess(f Figures) Assessment {
	handling := HandlingOf(f.Published)
	to := figures.DayOf(f.Now)
	a := Assessment{
		MeasuredAt: f.Now, From: figures.AddDays(to, -WindowDays), To: to,
		Current: handling.Current(), Target: handling.Next(), TTL: TTL,
	}
	t := tallyOf(f, a.From, a.To)
	a.Criteria = criteria(f, a, t)
	a.Impact = impactOf(t)
	if f.Acknowledgement.validFor(a.Current, a.Target, f.PolicySince) {
		a.Acknowledgement = f.Acknowledgement
	}
	if a.Target == "" || !blockingMet(a.Criteria) {
		return a
	}
	if a.Target != dmarc.None && a.Impact.RelayBroken > 0 && a.Acknowledgement == nil {
		a.PendingAcknowledgement = true
		return a
	}
	a.Ready = true
	a.Record, a.Changes = recommend(f.Published, a.Target, f.ReportAddress)
	return a
}
