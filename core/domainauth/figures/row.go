package figures

import (
	"math"
	"time"
)

// Row is a number of messages that the reports of one UTC day state for one source and one
// outcome. Several rows may have the same day, source and outcome; they are added. A row
// with zero or fewer messages counts as absent.
//
// How receivers handled the messages (the disposition) is not part of a row, because the
// rules do not depend on it: a receiver that spared a failing message today need not do so
// under a stricter policy. Rows with different dispositions are added.
type Row struct {
	// Day is any time in the UTC day. See [DayOfReport] for the day of a report.
	Day time.Time
	// Source is the id of the source.
	Source string
	// Aligned reports whether the messages passed DMARC: SPF or DKIM passed with a domain
	// that is aligned with the From domain. Otherwise they failed.
	Aligned bool
	// RelayBroken reports whether a relay caused the failure: a forwarder or a mailing list
	// passed on a message of another source, so that SPF no longer matched, and broke its
	// signature or the message had none. These are the failing messages of records whose own
	// classification is Forwarder. It has no meaning for aligned messages.
	RelayBroken bool
	// Messages is the number of messages, the sum of the element count of the records.
	Messages int64
}

// Failing reports whether the messages failed DMARC.
func (r Row) Failing() bool { return !r.Aligned }

// Add returns the sum of two numbers of messages, at most [math.MaxInt64]. Reports state
// any number, and a sum that overflowed could pass for a small one.
func Add(a, b int64) int64 {
	if b > 0 && a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}
