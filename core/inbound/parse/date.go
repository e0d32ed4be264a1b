package parse

import (
	"net/mail"
	"strings"
	"time"
)

// maxDateBytes bounds the Date field. Longer values are unreadable.
const maxDateBytes = 200

// dateLayouts has forms of dates in mail that RFC 5322 does not know.
var dateLayouts = []string{
	time.RFC3339,
	"2006-01-02 15:04:05 -0700",
	"2006-01-02 15:04:05",
	"Mon Jan _2 15:04:05 2006",
	"Mon Jan _2 15:04:05 MST 2006",
	"Mon Jan _2 15:04:05 2006 -0700",
	"Mon, _2 Jan 2006 15:04:05 GMT-07:00",
	"Mon, _2 Jan 2006 15:04:05 -07:00",
	"Mon, _2 Jan 2006 15.04.05 -0700",
	"Mon, _2-Jan-2006 15:04:05 -0700",
	"Mon, _2 January 2006 15:04:05 -0700",
	"Mon, _2 Jan 2006 15:04:05",
	"_2 Jan 2006 15:04:05",
}

// date reads the Date field. A time before 1970 or after 9999 is unreadable: the year would
// have no four digits, or the clock of the sender was not set.
func (p *parser) date(value *string) time.Time {
	if value == nil {
		return time.Time{}
	}
	if at, ok := parseDate(*value); ok && at.Year() >= 1970 && at.Year() <= 9999 {
		return at
	}
	p.warn(InvalidDate, visible(cutString(*value, maxDateBytes), maxDateBytes))
	return time.Time{}
}

func parseDate(value string) (time.Time, bool) {
	if len(value) > maxDateBytes {
		return time.Time{}, false
	}
	value = strings.Join(strings.Fields(value), " ")
	// The form of almost all mail is tried first, because ParseDate begins with others.
	if at, err := time.Parse("Mon, 2 Jan 2006 15:04:05 -0700", value); err == nil {
		return at, true
	}
	if at, err := mail.ParseDate(value); err == nil {
		return at, true
	}
	if i := strings.IndexByte(value, '('); i > 0 {
		value = strings.TrimSpace(value[:i])
	}
	for _, layout := range dateLayouts {
		if at, err := time.Parse(layout, value); err == nil {
			return at, true
		}
	}
	return time.Time{}, false
}
