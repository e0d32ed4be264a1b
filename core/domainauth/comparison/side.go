package comparison

import (
	"cmp"
	"slices"
	"time"

	"github.com/mailhelm/mailhelm/core/domainauth/figures"
	"github.com/mailhelm/mailhelm/core/domainauth/timeline"
)

// Side has the figures of the days before or after a change.
type Side struct {
	// From and To are the window of the side, two midnights in UTC; To is not part of it. Cut
	// days are part of the window.
	From, To time.Time
	// Days is the number of days whose messages are counted: those that are not cut.
	Days int
	// Total is the number of messages, Failing that of those that failed DMARC.
	Total, Failing int64
	// Groups has the same by what is known about the sources now, sorted by decision and
	// classification. It has no groups without messages.
	Groups []Group
}

// Group has the messages of a side of the sources with one decision and classification.
type Group struct {
	Decision       figures.Decision
	Classification figures.Classification
	Total, Failing int64
}

// PassRate returns the messages that passed of all messages. It is unknown without messages.
func (s Side) PassRate() figures.Ratio {
	return figures.Ratio{Part: s.Total - s.Failing, Whole: s.Total}
}

// perDay returns an amount per counted day.
func (s Side) perDay(n int64) figures.Ratio { return figures.Ratio{Part: n, Whole: int64(s.Days)} }

// Reason is why days were cut.
type Reason string

// The reasons, in the order in which they apply to a day.
const (
	// Present days are not over.
	Present Reason = "present"
	// Retention days are deleted, or deleted in part.
	Retention Reason = "retention"
	// EarlierChange days are touched by the guard band of a change before the window.
	EarlierChange Reason = "earlier_change"
	// NoReports days are covered by no report.
	NoReports Reason = "no_reports"
)

// Truncation has consecutive days of one side that were cut for one reason: from From to To,
// which is not one of them.
type Truncation struct {
	Reason   Reason
	From, To time.Time
}

// Days returns the number of days.
func (t Truncation) Days() int { return figures.Days(t.From, t.To) }

// measure returns the side with its figures, and the days that are cut. earlier has the
// changes whose guard bands may reach into the side.
func measure(in Input, s Side, earlier []timeline.Event) (Side, []Truncation) {
	covered := coveredDays(in)
	counted := map[time.Time]bool{}
	var cut []Truncation
	for d := s.From; d.Before(s.To); d = figures.AddDays(d, 1) {
		reason := in.reasonToCut(d, earlier, covered)
		if reason == "" {
			counted[d] = true
			continue
		}
		if last := len(cut) - 1; last >= 0 && cut[last].Reason == reason && cut[last].To.Equal(d) {
			cut[last].To = figures.AddDays(d, 1)
		} else {
			cut = append(cut, Truncation{Reason: reason, From: d, To: figures.AddDays(d, 1)})
		}
	}
	s.Days = len(counted)
	s.add(in, counted)
	return s, cut
}

// coveredDays returns the days that reports cover. A day with messages is one of them.
func coveredDays(in Input) map[time.Time]bool {
	covered := make(map[time.Time]bool, len(in.Covered))
	for _, d := range in.Covered {
		covered[figures.DayOf(d)] = true
	}
	for _, row := range in.Rows {
		if row.Messages > 0 {
			covered[figures.DayOf(row.Day)] = true
		}
	}
	return covered
}

// reasonToCut returns why a day is cut, "" if it is counted.
func (in Input) reasonToCut(d time.Time, earlier []timeline.Event, covered map[time.Time]bool) Reason {
	switch {
	case !d.Before(figures.DayOf(in.Now)):
		return Present
	case d.Before(in.KeptFrom):
		return Retention
	case slices.ContainsFunc(earlier, func(e timeline.Event) bool { return d.Before(firstDayAfterGuard(e)) }):
		return EarlierChange
	case !covered[d]:
		return NoReports
	default:
		return ""
	}
}

// add adds the messages of the counted days.
func (s *Side) add(in Input, counted map[time.Time]bool) {
	registry := figures.Register(in.Sources)
	groups := map[Group]Group{}
	for _, row := range in.Rows {
		if row.Messages <= 0 || !counted[figures.DayOf(row.Day)] {
			continue
		}
		source := registry.Source(row.Source)
		key := Group{Decision: source.Decision, Classification: source.Classification}
		g, ok := groups[key]
		if !ok {
			g = key
		}
		s.Total, g.Total = figures.Add(s.Total, row.Messages), figures.Add(g.Total, row.Messages)
		if row.Failing() {
			s.Failing, g.Failing = figures.Add(s.Failing, row.Messages), figures.Add(g.Failing, row.Messages)
		}
		groups[key] = g
	}
	for _, g := range groups {
		s.Groups = append(s.Groups, g)
	}
	slices.SortFunc(s.Groups, func(a, b Group) int {
		return cmp.Or(cmp.Compare(a.Decision, b.Decision), cmp.Compare(a.Classification, b.Classification))
	})
}
