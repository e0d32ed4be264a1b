package predicate

import (
	"strconv"
	"strings"
	"time"
)

const unitsHint = "the units are s, m, h, d, w, mo and y"

// number reads a token that begins with a digit: a date, a duration or a number.
func (l *lexer) number() token {
	if t, is := l.date(); is {
		return t
	}
	start := l.at
	l.take(isDigit)
	if l.isFollowed('.', isDigit) {
		l.at++
		l.take(isDigit)
	}
	l.exponent()
	digits := l.source[start:l.at]
	n, err := strconv.ParseFloat(digits, 64)
	suffix := l.take(isNameByte)
	if err != nil || n > MaxNumber {
		return token{kind: tokenBad, text: "the number is too large"}
	}
	if suffix == "" {
		return token{kind: tokenNumber, number: n}
	}
	return duration(digits, n, suffix)
}

func (l *lexer) isFollowed(by byte, then func(byte) bool) bool {
	return l.at+1 < len(l.source) && l.source[l.at] == by && then(l.source[l.at+1])
}

func (l *lexer) exponent() {
	rest := l.source[l.at:]
	if rest == "" || rest[0] != 'e' && rest[0] != 'E' {
		return
	}
	size := 1
	if len(rest) > 1 && (rest[1] == '+' || rest[1] == '-') {
		size = 2
	}
	if len(rest) > size && isDigit(rest[size]) {
		l.at += size
		l.take(isDigit)
	}
}

func duration(digits string, n float64, suffix string) token {
	for unit := Second; unit <= Year; unit++ {
		if units[unit].suffix != suffix {
			continue
		}
		if n*float64(units[unit].micros) > MaxDuration {
			return token{kind: tokenBad, text: "the duration is longer than 200 years"}
		}
		return token{kind: tokenDuration, number: n, unit: unit}
	}
	t := token{kind: tokenBad, text: quote(digits+suffix) + " is not a duration: " + unitsHint}
	word := strings.TrimSuffix(strings.ToLower(suffix), "s")
	for unit := Second; unit <= Year; unit++ {
		if word == units[unit].word || word == units[unit].suffix || word != "" && word != "m" && strings.HasPrefix(units[unit].word, word) {
			t.fix = digits + units[unit].suffix
			break
		}
	}
	return t
}

// date reads a date. It reports false if the text does not begin like a date, with four
// digits, a hyphen and a digit.
func (l *lexer) date() (token, bool) {
	rest := l.source[l.at:]
	if len(rest) < 6 || !isDigits(rest[:4]) || rest[4] != '-' || !isDigit(rest[5]) {
		return token{}, false
	}
	text := l.take(func(c byte) bool { return isDigit(c) || c == '-' })
	if l.at < len(l.source) && isLetter(l.source[l.at]) {
		l.take(func(c byte) bool { return isNameByte(c) || strings.IndexByte(":.+-", c) >= 0 })
		return token{kind: tokenBad, text: `a date with a time of day is written in quotes, as in "2026-01-31T09:00:00Z"`}, true
	}
	day, err := time.Parse(time.DateOnly, text)
	if err != nil || day.Year() < 1 {
		return token{kind: tokenBad, text: quote(text) + " is not a day of the calendar, written YYYY-MM-DD"}, true
	}
	return token{kind: tokenDate, micros: day.UnixMicro()}, true
}

func isDigits(s string) bool {
	for i := range len(s) {
		if !isDigit(s[i]) {
			return false
		}
	}
	return true
}

// parseTime parses a date and time of RFC 3339 and returns microseconds since 1970. It
// reports false if s is invalid or its year in UTC is not between 1 and 9999. RFC 3339
// cannot represent other years.
func parseTime(s string) (int64, bool) {
	var t time.Time
	if t.UnmarshalText([]byte(s)) != nil {
		return 0, false
	}
	t = t.UTC()
	return t.UnixMicro(), t.Year() >= 1 && t.Year() <= 9999
}
