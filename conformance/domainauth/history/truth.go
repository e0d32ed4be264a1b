package history

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core/domainauth/report"
	"github.com/mailhelm/mailhelm/core/domainauth/sources"
)

// Source is what is to be known about a source.
type Source struct {
	Key, Name, Provider string
	Classification      sources.Classification
}

// Outcome is what happened to messages of a day. Source is the key of the source.
type Outcome struct {
	Day         time.Time
	Source      string
	Disposition string
	DKIM, SPF   bool
	Relayed     bool
}

// Passed reports whether the messages passed DMARC.
func (o Outcome) Passed() bool { return o.DKIM || o.SPF }

// Covered is a day that a reporter reports about.
type Covered struct {
	Day      time.Time
	Reporter string
}

// Stated is the policy that a report states.
type Stated struct {
	Reporter   string
	Begin, End time.Time
	Policy     string
	// ArrivedAt is when the first file with the report arrived.
	ArrivedAt time.Time
}

// Truth is what all reports of a history say, each once.
type Truth struct {
	Messages map[Outcome]int64
	// Sources has the sources with messages, by their keys, and Addresses their addresses.
	Sources   map[string]Source
	Addresses map[string]map[netip.Addr]bool
	Covered   map[Covered]bool
	Stated    []Stated
	// Reports and Records count what is in them.
	Reports, Records int
}

func newTruth() Truth {
	return Truth{
		Messages: map[Outcome]int64{}, Sources: map[string]Source{}, Addresses: map[string]map[netip.Addr]bool{}, Covered: map[Covered]bool{},
	}
}

// add counts a record of a report.
func (t *Truth) add(s *sender, counted time.Time, k kind, r report.Record) {
	o := Outcome{Day: counted, Source: s.Key, Disposition: r.Disposition, DKIM: k.dkim, SPF: k.spf, Relayed: k.relayed}
	if o.Disposition == "pass" {
		o.Disposition = "none"
	}
	t.Messages[o] += int64(r.Count)
	t.Sources[s.Key] = s.Source
	if t.Addresses[s.Key] == nil {
		t.Addresses[s.Key] = map[netip.Addr]bool{}
	}
	t.Addresses[s.Key][r.SourceIP] = true
	t.Records++
}

// addReport counts a report. It covers the days of which it has more than half, which are whole days
// of its reporter, or the one day of which it has a half.
func (t *Truth) addReport(r *reporter, begin time.Time, length time.Duration, end, arrived time.Time, policy string) {
	t.Reports++
	t.Stated = append(t.Stated, Stated{Reporter: domainOf(r.email), Begin: begin, End: end, Policy: policy, ArrivedAt: arrived})
	first := begin.Add(-r.begins)
	if length < day {
		first = begin.Truncate(day)
	}
	for d := first; d.Before(first.Add(length)); d = d.Add(day) {
		t.Covered[Covered{d, domainOf(r.email)}] = true
	}
}

// domainOf returns the domain of an address.
func domainOf(email string) string { return email[strings.LastIndexByte(email, '@')+1:] }

// Transitions returns the changes of the policy that reports show, one for each reporter whose
// consecutive reports differ: the report with the new policy. They are in the order of their ends.
func (t *Truth) Transitions() []Stated {
	byReporter := map[string][]Stated{}
	for _, s := range t.Stated {
		byReporter[s.Reporter] = append(byReporter[s.Reporter], s)
	}
	var all []Stated
	for _, stated := range byReporter {
		slices.SortFunc(stated, func(a, b Stated) int { return a.End.Compare(b.End) })
		for i := 1; i < len(stated); i++ {
			if stated[i].Policy != stated[i-1].Policy {
				all = append(all, stated[i])
			}
		}
	}
	slices.SortFunc(all, func(a, b Stated) int { return cmp.Or(a.End.Compare(b.End), cmp.Compare(a.Reporter, b.Reporter)) })
	return all
}

// Observed returns when a change was known that a report shows: when that report and the one before
// it of the same reporter had arrived.
func (h *History) Observed(s Stated) time.Time {
	var before Stated
	for _, other := range h.Truth.Stated {
		if other.Reporter == s.Reporter && other.End.Before(s.End) && other.End.After(before.End) {
			before = other
		}
	}
	if before.ArrivedAt.After(s.ArrivedAt) {
		return before.ArrivedAt
	}
	return s.ArrivedAt
}
