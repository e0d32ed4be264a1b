package frame

import (
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// DayRange returns the time from the beginning of the first day up to, but not including,
// the day after the last day, in UTC. The days are texts in the form of [DateLayout]. For ""
// DayRange returns the zero time: the range has no limit there. It fails with
// validation_failed for "from" or "to" if a text is not a day, and if the last day is before
// the first.
func DayRange(first, last string) (from, to time.Time, err error) { //nolint:nonamedreturns // says which
	if from, err = dayOf("from", first); err != nil {
		return time.Time{}, time.Time{}, err
	}
	if to, err = dayOf("to", last); err != nil || to.IsZero() {
		return from, time.Time{}, err
	}
	if to.Before(from) {
		return time.Time{}, time.Time{}, core.Invalid("to", "is before the first day").WithNext("Swap the days.")
	}
	return from, to.AddDate(0, 0, 1), nil
}

// dayOf returns the beginning of a day, the zero time for "". An error names the field. It
// refuses the day whose beginning is the zero time, which stands for no limit. It also refuses
// the year 9999, because JSON cannot have the day after its last day.
func dayOf(field, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	day, err := time.Parse(DateLayout, text)
	if err != nil || day.IsZero() || day.Year() == 9999 {
		return time.Time{}, core.Invalid(field, "must be a day such as 2026-03-12, not "+Quoted(core.Quotable(text, 20)))
	}
	return day, nil
}

// DayStart returns the beginning of the day in UTC.
func DayStart(t time.Time) time.Time { return t.UTC().Truncate(24 * time.Hour) }
