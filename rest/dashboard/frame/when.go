package frame

import (
	"strconv"
	"time"
)

// When is the data of the template "when": an instant as the time from now, with the exact
// time on hover.
type When struct{ Machine, Exact, Relative string }

// When returns the data to show an instant. The zero time has the zero When, which the
// template shows as a dash.
func (f *Frame) When(t time.Time) When {
	if t.IsZero() {
		return When{}
	}
	t = t.UTC()
	return When{Machine: t.Format(time.RFC3339), Exact: t.Format("2 January 2006, 15:04:05 UTC"), Relative: relative(f.Clock(), t)}
}

// WhenText returns the data to show the instant in a text of RFC 3339. For another text it
// returns the zero When.
func (f *Frame) WhenText(text string) When {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return When{}
	}
	return f.When(t)
}

// relative returns the time from now to t in words: "3 min ago", "in 2 h". From 30 days on
// it returns the date.
func relative(now, t time.Time) string {
	distance, form := now.Sub(t), func(s string) string { return s + " ago" }
	if distance < 0 {
		distance, form = -distance, func(s string) string { return "in " + s }
	}
	switch {
	case distance < time.Minute:
		return "now"
	case distance < time.Hour:
		return form(strconv.Itoa(int(distance.Minutes())) + " min")
	case distance < 24*time.Hour:
		return form(strconv.Itoa(int(distance.Hours())) + " h")
	case distance < 48*time.Hour:
		return form("1 day")
	case distance < 30*24*time.Hour:
		return form(strconv.Itoa(int(distance.Hours()/24)) + " days")
	default:
		return t.Format("2 Jan 2006")
	}
}
