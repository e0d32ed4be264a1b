package predicate

import (
	"strconv"
	"time"
)

// Words returns the value in English: a text in quotation marks, cut to 80 characters; a
// number; a date, or a date and time in UTC.
func (v Value) Words() string { return valueWords(v) }

// The functions below return the words for single values, in error messages and
// explanations.

func valueWords(v Value) string {
	switch v.Type {
	case Number:
		return number(v.Number)
	case Bool:
		return strconv.FormatBool(v.Bool)
	case Datetime:
		return momentWords(v.Moment)
	default:
		return quote(v.Text)
	}
}

func momentWords(m Moment) string {
	switch {
	case !m.Relative:
		return timeWords(m.Micros)
	case m.Micros == 0:
		return "now"
	case m.Micros < 0:
		return m.Span.words() + " ago"
	}
	return m.Span.words() + " from now"
}

func timeWords(micros int64) string {
	t := time.UnixMicro(micros).UTC()
	if micros%units[Day].micros == 0 {
		return t.Format(time.DateOnly)
	}
	return t.Format("2006-01-02 15:04:05.999999 UTC")
}

// words returns the duration in English, such as "30 days".
func (d Duration) words() string {
	if d.Unit == 0 {
		return "0 seconds"
	}
	if d.Amount == 1 {
		return "1 " + units[d.Unit].word
	}
	return number(d.Amount) + " " + units[d.Unit].word + "s"
}
