package readiness

import (
	"cmp"
	"time"

	"github.com/mailhelm/mailhelm/core/domainauth/timeline"
	"github.com/mailhelm/mailhelm/core/mailauth/dmarc"
)

// PolicySince returns since when the present policy is published, for [Figures.PolicySince]:
// when the latest change of the [Handling] occurred, by the policy changes of the timeline.
// Changes of other tags, and of the records of other domains, do not count. Without a change,
// it is firstKnown: the earliest time at which the present record is known to have been
// published, or zero.
//
// The result is zero, unknown, if the latest change did not lead to the present policy: the
// timeline is older than the answer of DNS. Events may be in any order.
func PolicySince(published dmarc.Discovery, events []timeline.Event, firstKnown time.Time) time.Time {
	present := HandlingOf(published)
	subject := "_dmarc." + published.Domain
	if published.Domain == "" {
		subject = "_dmarc." + published.Author
	}
	var latest timeline.Event
	for _, e := range events {
		if e.Kind != timeline.PolicyChange || e.Subject != subject || handlingOfText(published, e.Old) == handlingOfText(published, e.New) {
			continue
		}
		if cmp.Or(e.OccurredAt.Compare(latest.OccurredAt), cmp.Compare(e.ID, latest.ID)) > 0 {
			latest = e
		}
	}
	switch {
	case latest.ID == "":
		return firstKnown
	case handlingOfText(published, latest.New) == present:
		return latest.OccurredAt
	default:
		return time.Time{}
	}
}

// handlingOfText returns the Handling of the domain with another record at the place of the
// present one. Without a record, or with an unreadable one, DMARC does not apply.
func handlingOfText(published dmarc.Discovery, text *string) Handling {
	if text == nil {
		return Handling{}
	}
	record, err := dmarc.Parse(*text)
	if err != nil {
		return Handling{}
	}
	inherited := published.Domain != "" && published.Domain != published.Author
	published.Domain, published.Record, published.Policy = published.Author, record, record.PolicyFor(inherited, true)
	return HandlingOf(published)
}

// MinRemeasureInterval is the time between two measurements of a domain that callers ask for.
const MinRemeasureInterval = time.Hour

// RetryAfter returns how long a caller must wait for the next measurement of a domain whose
// last one was at a time, which is zero if there was none. It is 0 if the measurement may
// begin now, otherwise whole seconds, rounded up, at most MinRemeasureInterval.
func RetryAfter(last, now time.Time) time.Duration {
	if last.IsZero() {
		return 0
	}
	wait := min(MinRemeasureInterval, last.Add(MinRemeasureInterval).Sub(now))
	if wait <= 0 {
		return 0
	}
	return (wait + time.Second - 1).Truncate(time.Second)
}

// SameHandling reports whether a record, at the place of the published one, would ask receivers
// to handle failing mail in the same way.
func SameHandling(published dmarc.Discovery, text string) bool {
	return handlingOfText(published, &text) == HandlingOf(published)
}
