package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mailhelm/mailhelm/core"
)

// WarningCode identifies the kind of a warning.
type WarningCode string

// The warnings.
const (
	BounceReview    WarningCode = "bounce_review"
	BouncePause     WarningCode = "bounce_pause"
	ComplaintReview WarningCode = "complaint_review"
	ComplaintPause  WarningCode = "complaint_pause"
	LowVolume       WarningCode = "low_volume"
)

// The rates, in thousandths, at which the provider reviews an account, and at which it
// may pause its sending.
const (
	bounceReview    = 50
	bouncePause     = 100
	complaintReview = 1
	complaintPause  = 5
)

// reaches reports whether part is at least so many thousandths of whole. It computes
// exactly, in integers.
func reaches(part, whole, thousandths int64) bool {
	return whole > 0 && part*1000 >= whole*thousandths
}

// fewMessages is the number of messages below which rates mean little: a single
// complaint would exceed the threshold for a review.
const fewMessages = 1000

// warningsOf returns the warnings, only the most severe one for each rate.
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
		warn(LowVolume, "Only %s messages were sent: one bounce or complaint moves the rates a lot.", withCommas(c.Sent))
	}
	return found
}

// changeOf describes in words how two windows differ.
func changeOf(now, then Counts) string {
	switch {
	case then.Sent == 0 && now.Sent == 0:
		return "Nothing was sent, in this window or in the one before."
	case then.Sent == 0:
		return fmt.Sprintf("%s messages were sent; in the window before, none.", withCommas(now.Sent))
	case now.Sent == 0:
		return fmt.Sprintf("Nothing was sent; in the window before, %s messages.", withCommas(then.Sent))
	}
	return fmt.Sprintf("%s messages were sent, %s before (%+.1f %%). %s, %s, %s.",
		withCommas(now.Sent), withCommas(then.Sent), 100*(float64(now.Sent)/float64(then.Sent)-1),
		describeMovement("Bounce rate", now.bounceRate(), then.bounceRate()),
		describeMovement("complaint rate", now.complaintRate(), then.complaintRate()),
		describeMovement("open rate", now.openRate(), then.openRate()))
}

// describeMovement describes how a rate changed. It compares the rates as displayed, so a
// change too small to see is no change.
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
	// complaintWeight is how many bounces a complaint counts for. It is the ratio of the two
	// thresholds for a review.
	complaintWeight = 50
)

// mover is a channel or template with its counts in two windows.
type mover struct {
	name      string
	now, then Counts
}

// weighedChange returns the absolute change in bounces between the two windows. Each
// complaint counts as complaintWeight bounces.
func (m mover) weighedChange() int64 {
	return distance(m.now.Bounced+complaintWeight*m.now.Complained, m.then.Bounced+complaintWeight*m.then.Complained)
}

func distance(a, b int64) int64 { return max(a-b, b-a) }

// movers returns the channels or templates that changed most: by bounces and complaints,
// and among equals by volume.
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

// longestName is the length to which names are cut.
const longestName = 80

func (m mover) notable(kind string) Notable {
	return Notable{Kind: kind, Name: core.Quotable(m.name, longestName), Text: fmt.Sprintf(
		"Sent %s, %s before. %s, %s.", withCommas(m.now.Sent), withCommas(m.then.Sent),
		describeMovement("Bounce rate", m.now.bounceRate(), m.then.bounceRate()),
		describeMovement("complaint rate", m.now.complaintRate(), m.then.complaintRate()))}
}

// withCommas returns a number with commas between thousands.
func withCommas(n int64) string {
	digits := strconv.FormatInt(n, 10)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
