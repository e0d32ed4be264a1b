package history

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// Sum has numbers of messages.
type Sum struct {
	Messages, Passing, Failing int64
	// SPF and DKIM count those for which the mechanism passed for an aligned domain, SPFOnly and
	// DKIMOnly those for which the other one did not.
	SPF, DKIM, SPFOnly, DKIMOnly int64
	// Relayed counts the failing messages that a forwarder broke.
	Relayed                     int64
	None, Quarantined, Rejected int64
}

func (s *Sum) add(o Outcome, n int64) {
	s.Messages += n
	for counter, applies := range map[*int64]bool{
		&s.Passing: o.DKIM || o.SPF, &s.Failing: !o.DKIM && !o.SPF, &s.SPF: o.SPF, &s.DKIM: o.DKIM, &s.SPFOnly: o.SPF && !o.DKIM, &s.DKIMOnly: o.DKIM && !o.SPF,
		&s.Relayed: o.Relayed, &s.None: o.Disposition == "none", &s.Quarantined: o.Disposition == "quarantine", &s.Rejected: o.Disposition == "reject",
	} {
		if applies {
			*counter += n
		}
	}
}

// Total returns the sum of all messages from a day to another one, which is not counted.
func (t *Truth) Total(from, to time.Time) Sum {
	var sum Sum
	for o, n := range t.Messages {
		if !o.Day.Before(from) && o.Day.Before(to) {
			sum.add(o, n)
		}
	}
	return sum
}

// BySource returns the sums of the sources with messages, by their keys.
func (t *Truth) BySource(from, to time.Time) map[string]*Sum {
	sums := map[string]*Sum{}
	for o, n := range t.Messages {
		if o.Day.Before(from) || !o.Day.Before(to) {
			continue
		}
		if sums[o.Source] == nil {
			sums[o.Source] = &Sum{}
		}
		sums[o.Source].add(o, n)
	}
	return sums
}

// ByDay returns the sum of each covered day of a source, of all sources with the key "". Days
// without messages have an empty sum.
func (t *Truth) ByDay(source string, from, to time.Time) map[time.Time]*Sum {
	sums := map[time.Time]*Sum{}
	for _, d := range t.CoveredDays(from, to) {
		sums[d] = &Sum{}
	}
	for o, n := range t.Messages {
		if sums[o.Day] != nil && (source == "" || o.Source == source) {
			sums[o.Day].add(o, n)
		}
	}
	return sums
}

// CountingDays returns the days on which reports count, in order.
func (t *Truth) CountingDays() []time.Time {
	days := map[time.Time]bool{}
	for o := range t.Messages {
		days[o.Day] = true
	}
	return slices.SortedFunc(maps.Keys(days), time.Time.Compare)
}

// CoveredDays returns the days that any report covers, in order.
func (t *Truth) CoveredDays(from, to time.Time) []time.Time {
	days := map[time.Time]bool{}
	for c := range t.Covered {
		if !c.Day.Before(from) && c.Day.Before(to) {
			days[c.Day] = true
		}
	}
	return slices.SortedFunc(maps.Keys(days), time.Time.Compare)
}

// Reporters returns the number of reporters that report about any of the days.
func (t *Truth) Reporters(from, to time.Time) int {
	names := map[string]bool{}
	for c := range t.Covered {
		if !c.Day.Before(from) && c.Day.Before(to) {
			names[c.Reporter] = true
		}
	}
	return len(names)
}

// Seen returns the first and the last day with messages of a source.
func (t *Truth) Seen(source string) (first, last time.Time) {
	for o := range t.Messages {
		if o.Source != source {
			continue
		}
		if first.IsZero() || o.Day.Before(first) {
			first = o.Day
		}
		if o.Day.After(last) {
			last = o.Day
		}
	}
	return first, last
}

// Decisions has what people decided about sources, by their keys: "confirmed" or "rejected". Others
// are unreviewed.
type Decisions map[string]string

// Of returns the decision about a source.
func (d Decisions) Of(key string) string { return cmp.Or(d[key], "unreviewed") }

// Fraction is an exact quotient. Whole is 0 if there was nothing to measure.
type Fraction struct{ Part, Whole int64 }

// Readiness has what readiness measures in the 30 days before that of now.
type Readiness struct {
	CoverageDays, Messages, Reporters int64
	Passed                            Fraction
	// Unaligned counts senders of the owner whose messages all fail.
	Unaligned int64
	// FailingConfirmed has failing messages of confirmed sources per day that are not a relay's.
	FailingConfirmed Fraction
	// NewUnknown counts unreviewed, unknown sources that were first seen in these days or later.
	NewUnknown    int64
	Breadth       Fraction
	FailingPerDay Fraction
	Relayed       int64
	// Impact has the sources that are not rejected with failing messages, those with most first.
	Impact []Impact
}

// Impact is the failing mail of a source.
type Impact struct {
	Key              string
	Failing, Relayed int64
	// Blocks says that the source is unreviewed and has 100 failing messages or more.
	Blocks bool
}

// Readiness measures.
func (t *Truth) Readiness(now time.Time, decisions Decisions) Readiness {
	to := now.UTC().Truncate(day)
	from := to.Add(-30 * day)
	total, covered := t.Total(from, to), int64(len(t.CoveredDays(from, to)))
	r := Readiness{
		CoverageDays: covered, Messages: total.Messages, Reporters: int64(t.Reporters(from, to)), Passed: Fraction{total.Passing, total.Messages},
		FailingConfirmed: Fraction{Whole: covered}, FailingPerDay: Fraction{Whole: covered},
	}
	for key, s := range t.BySource(from, to) {
		decision, class := decisions.Of(key), t.Sources[key].Classification
		own := s.Failing - s.Relayed
		if decision == "confirmed" {
			r.FailingConfirmed.Part += own
		}
		sends := decision == "confirmed" || decision == "unreviewed" && (class == "own" || class == "authorised")
		if sends && class != "forwarder" {
			r.Breadth.Whole++
			if own == 0 {
				r.Breadth.Part++
			}
			if s.Passing == 0 && own > 0 {
				r.Unaligned++
			}
		}
		if decision == "rejected" || s.Failing == 0 {
			continue
		}
		r.FailingPerDay.Part += s.Failing
		r.Relayed += s.Relayed
		r.Impact = append(r.Impact, Impact{key, s.Failing, s.Relayed, decision == "unreviewed" && s.Failing >= 100})
	}
	for key, source := range t.Sources {
		if first, _ := t.Seen(key); source.Classification == "unknown" && decisions.Of(key) == "unreviewed" && !first.Before(from) {
			r.NewUnknown++
		}
	}
	slices.SortFunc(r.Impact, func(a, b Impact) int { return cmp.Or(cmp.Compare(b.Failing, a.Failing), cmp.Compare(a.Key, b.Key)) })
	return r
}

// Side is one side of a comparison. Cut has its days that no report covers.
type Side struct {
	From, To time.Time
	Days     int
	Sum      Sum
	Groups   map[Group]Sum
	Cut      []time.Time
}

// Group has the sources with a decision and a classification.
type Group struct{ Decision, Classification string }

// Compare returns the sides of a change, of so many days each. The one after it begins with the
// first whole day at least 48 hours later.
func (t *Truth) Compare(change time.Time, days int, decisions Decisions) (before, after Side) {
	end := change.UTC().Truncate(day)
	begin := change.UTC().Add(48 * time.Hour)
	if !begin.Equal(begin.Truncate(day)) {
		begin = begin.Truncate(day).Add(day)
	}
	window := time.Duration(days) * day
	return t.side(end.Add(-window), end, decisions), t.side(begin, begin.Add(window), decisions)
}

func (t *Truth) side(from, to time.Time, decisions Decisions) Side {
	s := Side{From: from, To: to, Sum: t.Total(from, to), Groups: map[Group]Sum{}}
	covered := t.CoveredDays(from, to)
	s.Days = len(covered)
	for d := from; d.Before(to); d = d.Add(day) {
		if !slices.Contains(covered, d) {
			s.Cut = append(s.Cut, d)
		}
	}
	for key, sum := range t.BySource(from, to) {
		g := Group{decisions.Of(key), string(t.Sources[key].Classification)}
		all := s.Groups[g]
		all.Messages += sum.Messages
		all.Failing += sum.Failing
		s.Groups[g] = all
	}
	return s
}
