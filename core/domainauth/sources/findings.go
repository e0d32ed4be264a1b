package sources

import (
	"slices"
	"time"
)

// Day has the figures of a source for one day.
type Day struct {
	// Date is midnight UTC of the day.
	Date time.Time
	// Messages is the number of reported messages, and Passing those that passed DMARC.
	Messages, Passing int64
	// SPFAligned and DKIMAligned count the messages for which the mechanism passed for an
	// aligned domain.
	SPFAligned, DKIMAligned int64
}

// Code says what a finding is about.
type Code string

// The codes of findings.
const (
	// FailingVolume means that many messages of the source fail DMARC.
	FailingVolume Code = "failing_volume"
	// UnalignedDKIM and UnalignedSPF mean that most messages of a sender of the domain pass
	// without that mechanism, or fail.
	UnalignedDKIM Code = "unaligned_dkim"
	UnalignedSPF  Code = "unaligned_spf"
	// NewSource means that the source was not seen before.
	NewSource Code = "new_source"
)

// Finding is something about a source that a person should know.
type Finding struct {
	Code Code
	// Detail says in words what was found, with the figures of the last day on which the
	// finding was open.
	Detail string
	// OpenedAt and ClosedAt are the days on which the finding opened and closed. ClosedAt is
	// zero while it is open.
	OpenedAt, ClosedAt time.Time
}

// The limits of findings. A finding closes at another limit than it opens, so that it does not
// open and close every day. Windows count days with reports, so a gap in reports changes no
// finding.
const (
	findingWindow = 7 // days
	failingOpens  = 100
	failingCloses = 20
	leastMessages = 20 // for a share of messages to say something
	shareOpens    = 50 // percent of aligned messages, below
	shareCloses   = 90 // percent, at or above
	newMessages   = 10
	newAfter      = 14 // days with reports before the first one of the source
	newFor        = 30 // days

	// maxMessages limits what one day counts. Reporters state any number, and sums must not
	// overflow.
	maxMessages = 1 << 50
)

// Findings returns the findings about a source, in the order in which they opened, from its
// figures. days has one Day for each day with reports about the domain, in order of time, also
// if the source sent nothing then. The same days give the same findings, and later days do not
// change closed ones.
func Findings(source Identity, days []Day) []Finding {
	var all []Finding
	for _, rule := range rules {
		if slices.Contains(rule.about, source.Classification) {
			all = rule.appendFindings(all, source, days)
		}
	}
	slices.SortStableFunc(all, func(a, b Finding) int { return a.OpenedAt.Compare(b.OpenedAt) })
	return all
}

// Foremost returns the most important open finding. The result is false if none is open.
func Foremost(findings []Finding) (Finding, bool) {
	var found Finding
	for _, f := range findings {
		if f.ClosedAt.IsZero() && (found.Code == "" || importance(f.Code) < importance(found.Code)) {
			found = f
		}
	}
	return found, found.Code != ""
}

func importance(code Code) int {
	return slices.IndexFunc(rules, func(r rule) bool { return r.code == code })
}

// rule says when a finding opens and closes.
type rule struct {
	code          Code
	about         []Classification
	opens, closes func(sums) bool
	detail        func(Identity, sums) string
}

// rules has the rules, the most important first.
var rules = []rule{
	{
		code: FailingVolume, about: []Classification{Own, Authorised, Forwarder, Unknown, Spoofing},
		opens:  func(f sums) bool { return f.failing() >= failingOpens },
		closes: func(f sums) bool { return f.failing() < failingCloses },
		detail: detailFailing,
	},
	{
		code: UnalignedDKIM, about: []Classification{Own, Authorised},
		opens:  func(f sums) bool { return f.shareOpens(f.DKIMAligned) },
		closes: func(f sums) bool { return f.shareCloses(f.DKIMAligned) },
		detail: detailDKIM,
	},
	{
		code: UnalignedSPF, about: []Classification{Own, Authorised},
		opens:  func(f sums) bool { return f.shareOpens(f.SPFAligned) },
		closes: func(f sums) bool { return f.shareCloses(f.SPFAligned) },
		detail: detailSPF,
	},
	{
		code: NewSource, about: []Classification{Own, Authorised, Unknown},
		opens:  func(f sums) bool { return f.before >= newAfter && f.since < newFor && f.total >= newMessages },
		closes: func(f sums) bool { return f.since >= newFor },
		detail: detailNew,
	},
}

// sums has the figures of the last days, and what came before.
type sums struct {
	Day          // sums of the window; Date is the last day
	first        time.Time
	before       int   // days with reports before the first message
	since        int   // days with reports after the first message
	total        int64 // all messages so far
	countingDays int   // days in the window
}

func (f sums) failing() int64 { return f.Messages - f.Passing }

func (f sums) shareOpens(aligned int64) bool {
	return f.Messages >= leastMessages && aligned*100 < f.Messages*shareOpens
}

// shareCloses reports whether most messages are aligned, or whether there are none.
func (f sums) shareCloses(aligned int64) bool {
	return f.Messages == 0 || f.Messages >= leastMessages && aligned*100 >= f.Messages*shareCloses
}

// appendFindings follows the days and appends the findings of one rule.
func (r rule) appendFindings(all []Finding, source Identity, days []Day) []Finding {
	var f sums
	open := false
	for at, day := range days {
		f.next(days, at)
		switch {
		case !open && r.opens(f):
			open = true
			all = append(all, Finding{Code: r.code, OpenedAt: day.Date})
		case open && r.closes(f):
			open = false
			all[len(all)-1].ClosedAt = day.Date
		}
		if open {
			all[len(all)-1].Detail = r.detail(source, f)
		}
	}
	return all
}

// next moves the sums to a day.
func (f *sums) next(days []Day, at int) {
	f.add(days[at], 1)
	if at >= findingWindow {
		f.add(days[at-findingWindow], -1)
	}
	f.Date = days[at].Date
	f.countingDays = min(at+1, findingWindow)
	switch {
	case f.total > 0:
		f.since++
	case days[at].Messages > 0:
		f.first, f.before = f.Date, at
	}
	f.total += limited(days[at].Messages, maxMessages)
}

// add adds a day to the sums (sign 1) or subtracts it (sign -1). More messages cannot pass or
// be aligned than there are.
func (f *sums) add(day Day, sign int64) {
	messages := limited(day.Messages, maxMessages)
	f.Messages += sign * messages
	f.Passing += sign * limited(day.Passing, messages)
	f.SPFAligned += sign * limited(day.SPFAligned, messages)
	f.DKIMAligned += sign * limited(day.DKIMAligned, messages)
}

func limited(n, most int64) int64 { return max(0, min(n, most)) }
