package language

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/mailhelm/mailhelm/core/predicate"
)

const (
	hour = 60
	day  = 24 * hour

	timeHint = "a time of day, such as 9am, 5:30pm or 17:30"
)

// timeOfDay parses a time of day and returns it in minutes since midnight.
func (p *parser) timeOfDay() int {
	if p.failed {
		return 0
	}
	start := p.tok.Start
	end := start
	for end < len(p.source) && strings.IndexByte("0123456789:apm", p.source[end]) >= 0 {
		end++
	}
	minutes, ok := parseTimeOfDay(p.source[start:end])
	if !ok {
		if end == start {
			p.failExpecting(timeHint)
			return 0
		}
		p.fail(p.tok, predicate.Error{Message: "this is no time of day", Expected: timeHint})
		return 0
	}
	p.tok = predicate.TokenAt(p.source, end)
	return minutes
}

// parseTimeOfDay reads 9am, 5:30pm and 17:30.
func parseTimeOfDay(text string) (minutes int, ok bool) {
	clock, afternoon := strings.CutSuffix(text, "pm")
	clock, morning := strings.CutSuffix(clock, "am")
	hours, rest, exact := strings.Cut(clock, ":")
	h, err := strconv.Atoi(hours)
	if err != nil || len(hours) > 2 || afternoon && morning || !exact && !afternoon && !morning {
		return 0, false
	}
	m := 0
	if exact {
		if m, err = strconv.Atoi(rest); err != nil || len(rest) != 2 || m > 59 {
			return 0, false
		}
	}
	if !afternoon && !morning {
		return h*hour + m, h < 24
	}
	if h < 1 || h > 12 {
		return 0, false
	}
	h %= 12
	if afternoon {
		h += 12
	}
	return h*hour + m, true
}

// timeWords returns a time of day as it is written in workflows: 9am or 5:30pm.
func timeWords(minutes int) string {
	h, m := minutes/hour, minutes%hour
	suffix := "am"
	if h >= 12 {
		suffix = "pm"
	}
	if h %= 12; h == 0 {
		h = 12
	}
	if m == 0 {
		return strconv.Itoa(h) + suffix
	}
	return fmt.Sprintf("%d:%02d%s", h, m, suffix)
}
