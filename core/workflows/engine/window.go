package engine

import (
	"sync"
	"time"
	_ "time/tzdata" // timezones on machines that have none

	"github.com/mailhelm/mailhelm/core/workflows/language"
)

// nextOpening returns now if the window is open in the timezone, or else the next instant at
// which the clocks there show a time in the window.
//
// So a window that a change to summer time skips in part opens after the change, and one that it
// skips as a whole opens on the next day. Of times that a change to winter time repeats, both
// are in the window.
func nextOpening(w language.Window, now time.Time, zone *time.Location) time.Time {
	at := now.In(zone)
	for !isOpen(w, minuteOf(at)) {
		wait := (w.From - minuteOf(at) + minutesOfDay) % minutesOfDay
		opening := at.Add(time.Duration(wait)*time.Minute - time.Duration(at.Second())*time.Second - time.Duration(at.Nanosecond()))
		if _, change := at.ZoneBounds(); !change.IsZero() && change.Before(opening) {
			opening = change // the clocks change before they show From
		}
		at = opening.In(zone)
	}
	return at.UTC()
}

const minutesOfDay = 24 * 60

// minuteOf returns the minute of the day that clocks show at t.
func minuteOf(t time.Time) int { return t.Hour()*60 + t.Minute() }

// isOpen reports whether a window is open at a minute of the day.
func isOpen(w language.Window, minute int) bool {
	if w.From < w.Until {
		return w.From <= minute && minute < w.Until
	}
	return minute >= w.From || minute < w.Until
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
