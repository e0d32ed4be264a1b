package predicate

import (
	"strconv"
	"strings"
	"time"
)

// The functions below return the words for single values, in explanations and error
// messages.

func opPhrase(op Op, t Type) string {
	if t == Datetime {
		return [...]string{
			Equal: "is exactly", NotEqual: "is not exactly", Less: "is earlier than", LessOrEqual: "is at the latest",
			Greater: "is later than", GreaterOrEqual: "is at the earliest",
		}[op]
	}
	return [...]string{
		Equal: "is", NotEqual: "is not", Less: "is less than", LessOrEqual: "is at most",
		Greater: "is more than", GreaterOrEqual: "is at least",
	}[op]
}

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

// listWords returns the values in words, separated by commas. It shows at most ten values
// and the number of others.
func listWords(values []Value) string {
	const shown = 10
	parts := make([]string, 0, shown)
	for _, v := range values[:min(shown, len(values))] {
		parts = append(parts, valueWords(v))
	}
	text := strings.Join(parts, ", ")
	if more := len(values) - shown; more > 0 {
		text += " and " + strconv.Itoa(more) + " more"
	}
	return text
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
