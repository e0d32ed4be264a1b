package readiness

import (
	"cmp"
	"slices"

	"github.com/mailhelm/mailhelm/core/domainauth/figures"
)

// Impact is the failing mail of the window that a stricter policy concerns, and how far the
// reports can be relied on.
type Impact struct {
	// Completeness is the covered days of the days of the window.
	Completeness figures.Ratio
	// AlignmentBreadth is, of the sources with messages that send for the domain (see
	// [figures.Source.Sends]), those without a failing message other than ones that a relay
	// broke. Each source counts the same, however much it sends. It is unknown without such
	// sources.
	AlignmentBreadth figures.Ratio
	// FailingMessagesPerDay is the failing messages of all sources that are not rejected, per
	// covered day. It includes those that a relay broke.
	FailingMessagesPerDay figures.Ratio
	// RelayBroken is the number of failing messages of sources that are not rejected that a
	// relay broke: the cost to acknowledge.
	RelayBroken int64
	// Sources has the sources that are not rejected and have failing messages: those with
	// most failing messages first, equal ones by id.
	Sources []SourceImpact
}

// SourceImpact is the failing mail of one source in the window.
type SourceImpact struct {
	figures.Source
	// Failing is the number of failing messages, RelayBroken that of those of them that a
	// relay broke.
	Failing, RelayBroken int64
	// Share is Failing of the failing messages of all Sources of the Impact.
	Share figures.Ratio
	// Blocks reports whether the source is unreviewed and has so many failing messages that
	// it prevents acceptable_impact alone.
	Blocks bool
}

func impactOf(t tally) Impact {
	i := Impact{Completeness: figures.Ratio{Part: t.covered, Whole: WindowDays}}
	var failing int64
	for _, s := range t.sources {
		if s.Sends() {
			i.AlignmentBreadth.Whole++
			if s.repairable == 0 {
				i.AlignmentBreadth.Part++
			}
		}
		if s.Decision == figures.Rejected || s.failing() == 0 {
			continue
		}
		failing = figures.Add(failing, s.failing())
		i.RelayBroken = figures.Add(i.RelayBroken, s.relayBroken)
		i.Sources = append(i.Sources, SourceImpact{Source: s.Source, Failing: s.failing(), RelayBroken: s.relayBroken, Blocks: s.blocksAlone()})
	}
	i.FailingMessagesPerDay = figures.Ratio{Part: failing, Whole: t.covered}
	for n := range i.Sources {
		i.Sources[n].Share = figures.Ratio{Part: i.Sources[n].Failing, Whole: failing}
	}
	slices.SortStableFunc(i.Sources, func(a, b SourceImpact) int { return cmp.Compare(b.Failing, a.Failing) })
	return i
}
