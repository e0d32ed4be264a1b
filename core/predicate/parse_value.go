package predicate

import (
	"strconv"
	"strings"
)

func opOf(sign string) Op {
	for op := Equal; op <= GreaterOrEqual; op++ {
		if opWords[op] == sign {
			return op
		}
	}
	return 0
}

// wordsOf returns the keywords of the predicate language that occur in hint, the text of
// what the parser expected. They are the candidates for correcting a misspelled word.
func wordsOf(hint string) []string {
	words := strings.FieldsFunc(hint, func(r rune) bool { return r == ' ' || r == ',' || r == '"' })
	kept := words[:0]
	for _, word := range words {
		if reserved[word] {
			kept = append(kept, word)
		}
	}
	return kept
}

func itoa(n int) string { return strconv.Itoa(n) }

func (p *parser) op() Op {
	op := opOf(p.tok.text)
	if p.fault == nil && (p.tok.kind != tokenSymbol || op == 0) {
		p.failExpecting("one of = != < <= > >=")
	}
	p.advance()
	return op
}

// text parses a STRING.
func (p *parser) text(expected string) string {
	text := p.tok.text
	if p.fault == nil && p.tok.kind != tokenString {
		p.failExpecting(expected)
		if p.tok.kind == tokenWord && !reserved[text] {
			p.fault.Suggestion = `"` + text + `"`
		}
	}
	p.advance()
	return text
}

// value parses a literal: a string, a number, true, false or a date. If relative is true,
// it also accepts now, now - DURATION and now + DURATION.
func (p *parser) value(relative bool) Value {
	t := p.tok
	switch {
	case p.fault != nil:
		return Value{}
	case t.kind == tokenString:
		p.advance()
		return StringValue(t.text)
	case t.kind == tokenNumber, t.sign("-"):
		return NumberValue(p.number())
	case t.is("true"), t.is("false"):
		p.advance()
		return BoolValue(t.text == "true")
	case t.kind == tokenDate, relative && t.is("now"):
		return Value{Type: Datetime, Moment: p.moment()}
	case t.is("now"):
		p.fail(t, Error{Message: "a list may contain fixed values only, not now"})
		return Value{}
	}
	p.failExpecting(valueHint, "true", "false", "now")
	if t.kind == tokenWord && !reserved[t.text] && p.fault.Suggestion == "" {
		p.fault.Suggestion = `"` + t.text + `"`
	}
	return Value{}
}

// parseIn parses the part of an "in" test after the field f: "in" "[" value { "," value }
// "]".
func (p *parser) parseIn(at Offset, f Field) Node {
	n := &In{Offset: at, Field: f}
	p.advance()
	p.sign("[")
	for more := true; more && p.fault == nil; more = p.tok.sign(",") {
		if len(n.Values) > 0 {
			p.advance()
		}
		if len(n.Values) == MaxListItems {
			p.limit(LimitListItems, p.tok.start)
		}
		n.ValuesAt = append(n.ValuesAt, Offset(p.tok.start))
		n.Values = append(n.Values, p.value(false))
	}
	if p.fault == nil && !p.tok.sign("]") {
		p.failExpecting(`"," or "]"`)
	}
	p.advance()
	return n
}

// number parses a number with an optional minus sign. It returns 0 for -0.
func (p *parser) number() float64 {
	negative := p.tok.sign("-")
	if negative {
		p.advance()
	}
	n := p.tok.number
	if p.fault == nil && p.tok.kind != tokenNumber {
		p.failExpecting("a number")
	}
	p.advance()
	if negative && n != 0 {
		return -n
	}
	return n
}

func (p *parser) duration() Duration {
	t := p.tok
	if p.fault == nil && t.kind != tokenDuration {
		p.failExpecting("a duration without a space, such as 30d (" + unitsHint + ")")
		if t.kind == tokenNumber {
			p.fault.Suggestion = p.spacedDuration()
		}
	}
	p.advance()
	return Duration{Amount: t.number, Unit: t.unit}
}

// spacedDuration returns the duration that was probably meant by a number and a separate
// word, such as 30d for "30 days". It returns "" if the word does not resemble a unit of
// time.
func (p *parser) spacedDuration() string {
	unit := p.peek()
	if unit.kind != tokenWord {
		return ""
	}
	digits := p.source[p.tok.start:p.tok.end]
	meant := duration(digits, p.tok.number, unit.text)
	if meant.kind == tokenDuration {
		return digits + unit.text
	}
	return meant.fix
}

// moment parses a point in time: a date, a quoted date and time, or "now" [("-"|"+")
// DURATION].
func (p *parser) moment() Moment {
	t := p.tok
	if t.is("now") {
		p.advance()
		return p.distance()
	}
	at := Moment{Micros: p.absolute(`a date, a quoted date and time, or now`)}
	if t.kind == tokenDuration && p.fault.Suggestion == "" {
		p.fault.Suggestion = "now - " + p.source[t.start:t.end]
	}
	return at
}

func (p *parser) distance() Moment {
	m := Moment{Relative: true}
	sign := int64(1)
	switch {
	case p.fault != nil:
		return m
	case p.tok.sign("-"):
		sign = -1
	case !p.tok.sign("+"):
		return m
	}
	p.advance()
	m.Span = p.duration()
	m.Micros = sign * m.Span.Micros()
	return m
}

// absolute parses a date or a quoted date and time. It returns microseconds since 1970.
func (p *parser) absolute(expected string) int64 {
	t := p.tok
	micros := t.micros
	switch {
	case p.fault != nil:
		return 0
	case t.kind == tokenString:
		at, ok := parseTime(t.text)
		if !ok {
			p.fail(t, Error{Message: notATime(t.text)})
		}
		micros = at
	case t.kind != tokenDate:
		p.failExpecting(expected)
	}
	p.advance()
	return micros
}

func notATime(s string) string {
	return quote(s) + ` is not a date and time by RFC 3339, such as "2026-01-31T09:00:00Z"`
}
