package engine

import (
	"sync"
	"time"
	_ "time/tzdata" // timezones on machines that have none

	"github.com/mailhelm/mailhelm/core/workflows/language"
)

// nextOpening returns now if the window is open, or else the next time at which it opens, in
// the given timezone.
//
// Times that a change to summer time skips count as the time after the change, and of times
// that a change to winter time repeats, both are in the window.
func nextOpening(w language.Window, now time.Time, zone *time.Location) time.Time {
	local := now.In(zone)
	minute := local.Hour()*60 + local.Minute()
	if isOpen(w, minute) {
		return now
	}
	opening := onDay(local, w.From)
	if !opening.After(now) {
		opening = onDay(local.AddDate(0, 0, 1), w.From)
	}
	for !isOpen(w, opening.Hour()*60+opening.Minute()) { // the change to summer time skips From
		opening = opening.Add(changeStep)
	}
	return opening.UTC()
}

// changeStep divides the duration of all changes to summer time.
const changeStep = 15 * time.Minute

// isOpen reports whether a window is open at a minute of the day.
func isOpen(w language.Window, minute int) bool {
	if w.From < w.Until {
		return w.From <= minute && minute < w.Until
	}
	return minute >= w.From || minute < w.Until
}

// onDay returns the minute of the day of t in the timezone of t.
func onDay(t time.Time, minute int) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), 0, minute, 0, 0, t.Location())
}

// zones has the timezones that were loaded, because loading one takes long.
var zones zoneCache

// zoneCache keeps timezones by name. There are some 600 valid names; invalid ones are not kept.
type zoneCache struct{ loaded sync.Map }

// load returns a timezone, nil if there is none with the name.
func (c *zoneCache) load(name string) *time.Location {
	if l, found := c.loaded.Load(name); found {
		return l.(*time.Location)
	}
	l, err := time.LoadLocation(name)
	if err != nil {
		return nil
	}
	c.loaded.Store(name, l)
	return l
}
