package figures

import "time"

const day = 24 * time.Hour

// DayOf returns the first instant of the UTC calendar day that contains t.
func DayOf(t time.Time) time.Time { return t.UTC().Truncate(day) }

// Days returns the number of UTC days from the day of from to the day of to, which is not
// counted. It is negative if to is earlier.
func Days(from, to time.Time) int { return int(DayOf(to).Sub(DayOf(from)) / day) }

// AddDays returns the UTC day that is n days after the day of t.
func AddDays(t time.Time, n int) time.Time { return DayOf(t).AddDate(0, 0, n) }

// DayOfReport returns the UTC day to which all messages of a report count. begin and end are
// its date range. It is the day in which the middle of the range lies: receivers whose day
// is not that of UTC send reports that span midnight, and the counts in a report cannot be
// divided. An end before the begin counts as equal to it.
func DayOfReport(begin, end time.Time) time.Time {
	if end.Before(begin) {
		end = begin
	}
	return DayOf(begin.Add(end.Sub(begin) / 2))
}

// DaysOfReport returns the first and the last of the consecutive UTC days that a report
// covers: those of which its date range has more than half. The day of [DayOfReport] is
// always among them. A false date range may have very many days; callers bound them.
func DaysOfReport(begin, end time.Time) (first, last time.Time) { //nolint:nonamedreturns // says which is which
	own := DayOfReport(begin, end)
	if end.Before(begin) {
		return own, own
	}
	first, last = DayOf(begin), DayOf(end)
	if AddDays(first, 1).Sub(begin) <= day/2 {
		first = AddDays(first, 1)
	}
	if end.Sub(last) <= day/2 {
		last = AddDays(last, -1)
	}
	if last.Before(first) {
		return own, own
	}
	return first, last
}
