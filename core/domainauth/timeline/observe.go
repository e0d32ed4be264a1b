package timeline

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core/domainauth/report"
	"github.com/mailhelm/mailhelm/core/mailauth/dmarc"
)

// Observation is one look at a record: a poll that was answered, or a report with the policy
// that its receiver found.
type Observation struct {
	// ID identifies the observation.
	ID     string
	Origin Origin
	// Observer is who looked: the reporter. Polls have one observer.
	Observer string
	// Kind is PolicyChange or SetupChange, the kind of a change of the record.
	Kind    Kind
	Subject string
	// Text is the record, nil if there was none. For a report, see [PolicyText].
	Text *string
	// From and To are the time in which the observer looked: the date range of the report, or
	// twice the time of the poll.
	From, To time.Time
	// ObservedAt is when the service knew of it.
	ObservedAt time.Time
}

// Sightings returns the changes that observations show: one for each two consecutive
// observations of one observer that differ, as far as [Fold] compares them. Consecutive ones
// are those with the next end, then the next begin, then the next ID. The ID of a sighting is
// that of the observation with the new record. The first observation of an observer shows no
// change.
//
// The result does not depend on the order of the observations. A further report changes only
// the sightings of its reporter.
func Sightings(observations []Observation) []Sighting {
	sorted := slices.Clone(observations)
	slices.SortFunc(sorted, func(a, b Observation) int {
		return cmp.Or(a.compareRecord(b), a.To.Compare(b.To), a.From.Compare(b.From), cmp.Compare(a.ID, b.ID))
	})
	var all []Sighting
	for i := 1; i < len(sorted); i++ {
		before, after := sorted[i-1], sorted[i]
		if before.compareRecord(after) != 0 {
			continue
		}
		s := Sighting{
			ID: after.ID, Origin: after.Origin, Kind: after.Kind, Subject: after.Subject, Old: before.Text, New: after.Text,
			OldSeenAt: before.From, NewSeenAt: after.To, ObservedAt: later(before.ObservedAt, after.ObservedAt),
		}
		if len(changesOf([]Sighting{s})) > 0 {
			all = append(all, s)
		}
	}
	return all
}

// compareRecord orders observations by observer and record.
func (o Observation) compareRecord(p Observation) int {
	return cmp.Or(cmp.Compare(o.Origin, p.Origin), cmp.Compare(o.Observer, p.Observer), cmp.Compare(o.Kind, p.Kind), cmp.Compare(o.Subject, p.Subject))
}

// later returns the later of two times. A change is known when both records are.
func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// PolicyText writes the policy that a report states as a record, with the tags p, sp, np,
// adkim, aspf and t as far as the report has them; reports do not state the other tags. The
// record is that of "_dmarc" and the domain of the policy. The result is false if p is not a
// policy: the report is then no observation.
func PolicyText(p report.Policy) (string, bool) {
	text := "v=DMARC1"
	for _, tag := range [][2]string{{"p", p.P}, {"sp", p.SP}, {"np", p.NP}, {"adkim", p.ADKIM}, {"aspf", p.ASPF}, {"t", p.Testing}} {
		if tag[1] != "" && !strings.ContainsFunc(tag[1], func(r rune) bool { return r <= ' ' || r > '~' || r == ';' || r == '=' }) {
			text += "; " + tag[0] + "=" + tag[1]
		}
	}
	record, err := dmarc.Parse(text)
	return text, err == nil && record.Applies()
}
