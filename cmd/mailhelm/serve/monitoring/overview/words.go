package overview

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// perSecond formats a rate.
func perSecond(v float64) string { return short(v) + "/s" }

// perMinute formats a rate.
func perMinute(v float64) string { return short(v) + "/min" }

// milliseconds formats a duration in seconds.
func milliseconds(v float64) string { return short(1000*v) + " ms" }

// megabytes formats a number of bytes.
func megabytes(v float64) string { return short(v/1e6) + " MB" }

// short formats a number with at most two significant digits after the point.
func short(v float64) string {
	digits := 0
	if v < 10 {
		digits = 1
	}
	if v < 1 {
		digits = 2
	}
	return strconv.FormatFloat(round(v, digits), 'f', -1, 64)
}

func round(v float64, digits int) float64 {
	shift := math.Pow10(digits)
	return math.Round(v*shift) / shift
}

// count formats a whole number with a comma between thousands.
func count(v float64) string {
	if math.IsNaN(v) {
		return "–"
	}
	return core.WithCommas(int64(math.Round(v)))
}

// age formats a time span by its largest unit: "40 s", "12 min", "3 h" or "5 days".
func age(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	switch {
	case d < 2*time.Minute:
		return count(d.Seconds()) + " s"
	case d < 2*time.Hour:
		return count(math.Floor(d.Minutes())) + " min"
	case d < 48*time.Hour:
		return count(math.Floor(d.Hours())) + " h"
	}
	return count(math.Floor(d.Hours()/24)) + " days"
}

// clockTime formats the time of a day.
func clockTime(t time.Time) string { return t.UTC().Format("15:04:05") }

// name makes a name of a label: "broadcast_recipients" becomes "Broadcast recipients", and
// "dmarc_mails" "DMARC mails".
func name(label string) string {
	words := strings.ReplaceAll(label, "_", " ")
	if of, isDMARC := strings.CutPrefix(words, "dmarc"); isDMARC {
		return "DMARC" + of
	}
	if words == "" {
		return words
	}
	return strings.ToUpper(words[:1]) + words[1:]
}
