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
	// AlignmentBreadth is, of the senders with messages that send for the domain (see
	// [figures.Sender.Sends]), those without a failing message other than ones that a relay
	// broke. Each sender counts the same, however much it sends. It is unknown without such
	// senders.
	AlignmentBreadth figures.Ratio
	// FailingMessagesPerDay is the failing messages of all senders that are not rejected, per
	// covered day. It includes those that a relay broke.
	FailingMessagesPerDay figures.Ratio
	// RelayBroken is the number of failing messages of senders that are not rejected that a
	// relay broke: the cost to acknowledge.
	RelayBroken int64
	// Senders has the senders that are not rejected and have failing messages: those with
	// most failing messages first, equal ones by id.
	Senders []SenderImpact
}

// SenderImpact is the failing mail of one sender in the window.
type SenderImpact struct {
	figures.Sender
	// Failing is the number of failing messages, RelayBroken that of those of them that a
	// relay broke.
	Failing, RelayBroken int64
	// Share is Failing of the failing messages of all Senders of the Impact.
	Share figures.Ratio
	// Blocks reports whether the sender is unreviewed and has so many failing messages that
	// it prevents acceptable_impact alone.
	Blocks bool
}

func impactOf(t tally) Impact {
	i := Impact{Completeness: figures.Ratio{Part: t.covered, Whole: WindowDays}}
	var failing int64
	for _, s := range t.senders {
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
		i.Senders = append(i.Senders, SenderImpact{Sender: s.Sender, Failing: s.failing(), RelayBroken: s.relayBroken, Blocks: s.blocksAlone()})
	}
	i.FailingMessagesPerDay = figures.Ratio{Part: failing, Whole: t.covered}
	for n := range i.Senders {
		i.Senders[n].Share = figures.Ratio{Part: i.Senders[n].Failing, Whole: failing}
	}
	slices.SortStableFunc(i.Senders, func(a, b SenderImpact) int { return cmp.Compare(b.Failing, a.Failing) })
	return i
}
