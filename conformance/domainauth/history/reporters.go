package history

import (
	"time"

	"github.com/mailhelm/mailhelm/core/domainauth/report/compose"
)

// reporter is a receiver of mail that sends reports, with its habits.
type reporter struct {
	org, email string
	format     compose.Format
	// share is its share of the mail.
	share float64
	// begins is the time of day in UTC at which its day begins, later than the UTC day (positive) or
	// before it.
	begins time.Duration
	// halves says that it sends two reports a day, weekly one a week, on Mondays.
	halves, weekly bool
	// late says that it still has the old policy for a day after a change.
	late bool
	// passes says that it writes the disposition "pass", strict that it rejects attacks by itself.
	passes, strict bool
	// zip says that it sends zip files; otherwise gzip. plain says that it sends XML as it is.
	zip, plain bool
}

// reporters has all reporters. The domain of email is what they are known by.
var reporters = []reporter{
	{org: "bigmail.example", email: "noreply-dmarc-support@bigmail.example", format: compose.RFC7489, share: 42, zip: true, late: true},
	{org: "Outbox", email: "dmarcreport@outbox.example", format: compose.RFC7489, share: 26},
	{org: "Freemail GmbH", email: "noreply@freemail.example", format: compose.RFC9990, share: 12, passes: true, strict: true},
	{org: "Pacific Mail", email: "dmarc@pacific.example", format: compose.RFC7489, share: 8, begins: -9 * time.Hour},
	{org: "Prairie Networks", email: "postmaster@prairie.example", format: compose.RFC9990, share: 5, begins: 8 * time.Hour, plain: true, late: true},
	{org: "Twice Daily", email: "reports@twice.example", format: compose.RFC7489, share: 4, halves: true},
	{org: "University of Weeks", email: "dmarc@weeks.example", format: compose.RFC9990, share: 3, weekly: true, zip: true},
}

// open reports whether the reporter reports about mail of a day. The weekly one reports about
// complete weeks without a gap only.
func (r *reporter) open(h *History, d time.Time) bool {
	if !r.weekly {
		return true
	}
	begin := monday(d)
	end := begin.Add(7 * day)
	return !begin.Before(h.Begin) && !end.After(h.End) && (!begin.Before(h.Gap[1]) || !end.After(h.Gap[0]))
}

// monday returns the first day of the week of a day.
func monday(d time.Time) time.Time { return d.Add(-time.Duration((d.Weekday()+6)%7) * day) }

// policyAt returns the policy that the reporter has for a report that ends at a time.
func (r *reporter) policyAt(h *History, end time.Time) string {
	if r.late {
		end = end.Add(-day)
	}
	if end.Before(h.Changed) {
		return "none"
	}
	return "quarantine"
}
