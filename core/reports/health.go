package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/core"
)

// WarningCode is the kind of a [Warning].
type WarningCode string

// The warnings.
const (
	BounceReview    WarningCode = "bounce_review"
	BouncePause     WarningCode = "bounce_pause"
	ComplaintReview WarningCode = "complaint_review"
	ComplaintPause  WarningCode = "complaint_pause"
	LowVolume       WarningCode = "low_volume"
)

// Thresholds of the bounce and complaint rates, in thousandths. At the review thresholds
// the provider reviews an account; at the pause thresholds it may stop the account's
// sending.
const (
	bounceReview    = 50
	bouncePause     = 100
	complaintReview = 1
	complaintPause  = 5
)

// BounceReviewRate and ComplaintReviewRate are the rates, from 0 to 1, at which the provider
// reviews an account.
const (
	BounceReviewRate    = bounceReview / 1000.0
	ComplaintReviewRate = complaintReview / 1000.0
)

// reaches reports whether part/whole is at least the given number of thousandths. It uses
// integers, so that the comparison is exact.
func reaches(part, whole, thousandths int64) bool {
	return whole > 0 && part*1000 >= whole*thousandths
}

// fewMessages is the number of sent messages below which rates are not reliable. With fewer
// messages, one complaint alone would exceed the review threshold.
const fewMessages = 1000

// warningsOf returns the warnings about the counts. For each rate it returns only the most
// severe warning.
func warningsOf(c Counts) []Warning {
	found := []Warning{}
	warn := func(code WarningCode, format string, args ...any) {
		found = append(found, Warning{code, fmt.Sprintf(format, args...)})
	}
	switch bounce := c.bounceRate(); {
	case reaches(c.Bounced, c.Sent, bouncePause):
		warn(BouncePause, "The bounce rate is %s. From 10 %% the provider may pause sending.", percent(bounce))
	case reaches(c.Bounced, c.Sent, bounceReview):
		warn(BounceReview, "The bounce rate is %s. From 5 %% the provider reviews the account.", percent(bounce))
	}
	switch complaint := c.complaintRate(); {
	case reaches(c.Complained, c.Sent, complaintPause):
		warn(ComplaintPause, "The complaint rate is %s. From 0.5 %% the provider may pause sending.", percent(complaint))
	case reaches(c.Complained, c.Sent, complaintReview):
		warn(ComplaintReview, "The complaint rate is %s. From 0.1 %% the provider reviews the account.", percent(complaint))
	}
	switch {
	case c == Counts{}:
		warn(LowVolume, "Nothing was sent in this window, so there is nothing to judge.")
	case c.Sent < fewMessages:
		warn(LowVolume, "Only %s messages were sent: one bounce or complaint moves the rates a lot.", core.WithCommas(c.Sent))
	}
	return found
}

// changeOf returns a text that compares the counts of a time window (now) with those of the
// time window before it (then).
func changeOf(now, then Counts) string {
	switch {
	case then.Sent == 0 && now.Sent == 0:
		return "Nothing was sent, in this window or in the one before."
	case then.Sent == 0:
		return fmt.Sprintf("%s messages were sent; in the window before, none.", core.WithCommas(now.Sent))
	case now.Sent == 0:
		return fmt.Sprintf("Nothing was sent; in the window before, %s messages.", core.WithCommas(then.Sent))
	}
	return fmt.Sprintf("%s messages were sent, %s before (%+.1f %%). %s, %s, %s.",
		core.WithCommas(now.Sent), core.WithCommas(then.Sent), 100*(float64(now.Sent)/float64(then.Sent)-1),
		describeMovement("Bounce rate", now.bounceRate(), then.bounceRate()),
		describeMovement("complaint rate", now.complaintRate(), then.complaintRate()),
		describeMovement("open rate", now.openRate(), then.openRate()))
}

// describeMovement returns a text about the change of a rate, such as "open rate up from
// 1.00 % to 2.00 %". Rates that are displayed alike count as unchanged.
func describeMovement(name string, now, then float64) string {
	if percent(now) == percent(then) {
		return name + " unchanged at " + percent(now)
	}
	direction := "up"
	if now < then {
		direction = "down"
	}
	return fmt.Sprintf("%s %s from %s to %s", name, direction, percent(then), percent(now))
}

const (
	maxMovers = 4
	// complaintWeight is the number of bounces to which one complaint is equivalent. It is
	// the ratio of the two review thresholds.
	complaintWeight = 50
)

// mover is a channel or template with its counts in the report's window (now) and in the
// window before it (then).
type mover struct {
	name      string
	now, then Counts
}

// weighedChange returns by how much the number of bounces differs between the report's
// window and the window before it. Each complaint counts as complaintWeight bounces.
func (m mover) weighedChange() int64 {
	return distance(m.now.Bounced+complaintWeight*m.now.Complained, m.then.Bounced+complaintWeight*m.then.Complained)
}

func distance(a, b int64) int64 { return max(a-b, b-a) }

// movers returns the channels or templates that changed most between two windows, at most
// maxMovers. It ranks by the change in bounces and complaints, then by the change in sent
// messages.
func movers(kind string, now, then map[string]Counts) []Notable {
	var all []mover
	for name, c := range now {
		all = append(all, mover{name, c, then[name]})
	}
	for name, c := range then {
		if _, there := now[name]; !there {
			all = append(all, mover{name: name, then: c})
		}
	}
	all = slices.DeleteFunc(all, func(m mover) bool {
		return m.name == "" || m.weighedChange() == 0 && m.now.Sent == m.then.Sent
	})
	slices.SortFunc(all, func(a, b mover) int {
		return cmp.Or(cmp.Compare(b.weighedChange(), a.weighedChange()),
			cmp.Compare(distance(b.now.Sent, b.then.Sent), distance(a.now.Sent, a.then.Sent)), strings.Compare(a.name, b.name))
	})
	notable := make([]Notable, 0, maxMovers)
	for _, m := range all[:min(maxMovers, len(all))] {
		notable = append(notable, m.notable(kind))
	}
	return notable
}

// longestName is the maximum length of a channel's or template's name in a report; longer
// names are cut.
const longestName = 80

func (m mover) notable(kind string) Notable {
	return Notable{Kind: kind, Name: core.Quotable(m.name, longestName), Text: fmt.Sprintf(
		"Sent %s, %s before. %s, %s.", core.WithCommas(m.now.Sent), core.WithCommas(m.then.Sent),
		describeMovement("Bounce rate", m.now.bounceRate(), m.then.bounceRate()),
		describeMovement("complaint rate", m.now.complaintRate(), m.then.complaintRate()))}
}
