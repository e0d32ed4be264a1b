package readiness

import (
	"time"

	"github.com/mailhelm/mailhelm/core/domainauth/figures"
	"github.com/mailhelm/mailhelm/core/mailauth/dmarc"
)

// Name is the name of a criterion.
type Name string

// The criteria; the package comment has their definitions.
const (
	CoverageDays        Name = "coverage_days"
	MessageVolume       Name = "message_volume"
	DistinctProviders   Name = "distinct_providers"
	PassRate            Name = "pass_rate"
	NoUnalignedSending  Name = "no_unaligned_sending"
	AcceptableImpact    Name = "acceptable_impact"
	TimeAtCurrentPolicy Name = "time_at_current_policy"
	NoNewUnknownSources Name = "no_new_unknown_sources"
)

// The thresholds of the criteria.
const (
	// MinCoverageDays is in days.
	MinCoverageDays = 14
	// MinMessages is in messages in the window.
	MinMessages = 1000
	// MinReporters is in reporters.
	MinReporters = 3
	// MaxFailingPerDay is in failing messages of confirmed sources per covered day.
	MaxFailingPerDay = 10
	// UnreviewedBlocks is the number of failing messages in the window with which a single
	// unreviewed source blocks.
	UnreviewedBlocks = 100
	// MinPolicyDays is in days of 24 hours.
	MinPolicyDays = 30
)

// Criterion is one measured condition of a rung.
type Criterion struct {
	Name Name
	// Blocking reports whether the rung must wait until the criterion is met.
	Blocking bool
	Met      bool
	// Value is the measured amount. It is unknown if there was nothing to measure.
	Value figures.Ratio
	// Threshold is the limit of Value. It is unknown (zero) for a criterion without a limit.
	Threshold figures.Ratio
}

// criteria returns the criteria of the target of a.
func criteria(f Figures, a Assessment, t tally) []Criterion {
	all := []Criterion{
		atLeast(CoverageDays, figures.Count(t.covered), MinCoverageDays),
		atLeast(MessageVolume, figures.Count(t.total), MinMessages),
		atLeast(DistinctProviders, figures.Count(t.reporters), MinReporters),
		{Name: PassRate, Met: t.total > 0, Value: figures.Ratio{Part: t.aligned, Whole: t.total}},
		atMost(NoUnalignedSending, t.ifCovered(unalignedSources(t)), 0),
		acceptableImpact(t),
	}
	if a.Target == dmarc.Reject {
		all = append(all,
			atLeast(TimeAtCurrentPolicy, daysAtPolicy(f.Now, f.PolicySince), MinPolicyDays),
			atMost(NoNewUnknownSources, t.ifCovered(newUnknownSources(f.Sources, a.From, t)), 0),
		)
	}
	if a.Target == "" || a.Target == dmarc.None {
		for i := range all {
			all[i].Blocking = false
		}
	}
	return all
}

// atLeast returns a blocking criterion that a value of threshold or more meets.
func atLeast(name Name, value figures.Ratio, threshold int64) Criterion {
	return Criterion{Name: name, Blocking: true, Met: value.AtLeast(threshold), Value: value, Threshold: figures.Count(threshold)}
}

// atMost returns a blocking criterion that a value of threshold or less meets.
func atMost(name Name, value figures.Ratio, threshold int64) Criterion {
	return Criterion{Name: name, Blocking: true, Met: value.AtMost(threshold), Value: value, Threshold: figures.Count(threshold)}
}

// ifCovered returns n, or an unknown value if no day is covered.
func (t tally) ifCovered(n int64) figures.Ratio {
	if t.covered == 0 {
		return figures.Ratio{}
	}
	return figures.Count(n)
}

// unalignedSources returns the number of sources that send for the domain whose messages all
// fail, not counting those that a relay broke.
func unalignedSources(t tally) int64 {
	var n int64
	for _, s := range t.sources {
		if s.Sends() && s.aligned == 0 && s.repairable > 0 {
			n++
		}
	}
	return n
}

// acceptableImpact returns the criterion on the messages that a stricter policy would lose.
func acceptableImpact(t tally) Criterion {
	var failing int64
	alone := false
	for _, s := range t.sources {
		if s.Decision == figures.Confirmed {
			failing = figures.Add(failing, s.repairable)
		}
		alone = alone || s.blocksAlone()
	}
	c := atMost(AcceptableImpact, figures.Ratio{Part: failing, Whole: t.covered}, MaxFailingPerDay)
	c.Met = c.Met && !alone
	return c
}

// blocksAlone reports whether the source prevents acceptable_impact by itself.
func (s sourceTally) blocksAlone() bool {
	return s.Decision == figures.Unreviewed && s.failing() >= UnreviewedBlocks
}

// daysAtPolicy returns the complete days of 24 hours since a time, 0 for a time in the
// future and unknown for the zero time.
func daysAtPolicy(now, since time.Time) figures.Ratio {
	if since.IsZero() {
		return figures.Ratio{}
	}
	return figures.Count(max(0, int64(now.Sub(since)/(24*time.Hour))))
}

// newUnknownSources returns the number of sources that are unknown and unreviewed and were
// first seen at from or later, or at an unknown time. Sources with messages that are not
// registered are among them.
func newUnknownSources(registered []Source, from time.Time, t tally) int64 {
	registry := registryOf(registered)
	var n int64
	for _, s := range registered {
		known := registry.Source(s.ID)
		if known.Decision == figures.Unreviewed && known.Classification == figures.Unknown && (s.FirstSeen.IsZero() || !s.FirstSeen.Before(from)) {
			n++
		}
	}
	for _, s := range t.sources {
		if !s.registered {
			n++
		}
	}
	return n
}

// blockingMet reports whether all blocking criteria are met.
func blockingMet(all []Criterion) bool {
	for _, c := range all {
		if c.Blocking && !c.Met {
			return false
		}
	}
	return true
}
