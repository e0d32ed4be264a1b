package language

import (
	"strconv"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/predicate"
)

func itoa(n int) string { return strconv.Itoa(n) }

// quotedWords returns the words as alternatives: "before" or "after".
func quotedWords(words []string) string {
	quoted := make([]string, 0, len(words))
	for _, word := range words {
		quoted = append(quoted, `"`+word+`"`)
	}
	if len(quoted) < 2 {
		return strings.Join(quoted, "")
	}
	return strings.Join(quoted[:len(quoted)-1], ", ") + " or " + quoted[len(quoted)-1]
}

// text parses a STRING. expected describes it.
func (p *parser) text(expected string) (string, Offset) {
	t := p.tok
	if !p.failed && t.Kind != predicate.StringToken {
		p.failExpecting(expected)
		if t.Kind == predicate.WordToken {
			p.suggest(`"` + t.Text + `"`)
		}
	}
	p.advance()
	return t.Text, Offset(t.Start)
}

// name parses a STRING that people read: not empty, and at most [MaxName] bytes long.
func (p *parser) name(expected string) string {
	t := p.tok
	name, _ := p.text(expected)
	if !p.failed && (strings.TrimSpace(name) == "" || len(name) > MaxName) {
		p.fail(t, predicate.Error{Message: "a name has 1 to " + itoa(MaxName) + " bytes"})
	}
	return name
}

// predicate parses a condition. It ends before the first token that cannot continue it.
func (p *parser) predicate() *predicate.Tree {
	return p.embedded(predicate.ParseAt)
}

func (p *parser) embedded(parse func(string, int) (*predicate.Tree, int, *predicate.Error)) *predicate.Tree {
	if p.failed {
		return nil
	}
	tree, end, fault := parse(p.source, p.tok.Start)
	if fault != nil {
		p.add(fault)
	}
	p.tok = predicate.TokenAt(p.source, end)
	return tree
}

// integer parses a whole number between least and most. what names it in messages.
func (p *parser) integer(what string, least, most int) int {
	t := p.tok
	if !p.failed && t.Kind != predicate.NumberToken {
		p.failExpecting(what + ", a whole number")
		return 0
	}
	n := int(min(max(t.Number, -1), 1e9))
	if !p.failed && (float64(n) != t.Number || n < least || n > most) {
		p.fail(t, predicate.Error{Message: what + " cannot be " + core.Quote(p.source[t.Start:t.End]), Expected: "a whole number from " + itoa(least) + " to " + itoa(most)})
	}
	p.advance()
	return n
}

// units are the words for units of time, in the singular.
var units = map[string]predicate.Unit{
	"minute": predicate.Minute, "hour": predicate.Hour, "day": predicate.Day, "week": predicate.Week, "month": predicate.Month,
}

var unitWords = []string{"minute", "minutes", "hour", "hours", "day", "days", "week", "weeks", "month", "months"}

const durationHint = "a duration in words, such as 3 days (minutes, hours, days, weeks, months)"

// duration parses: NUMBER unit. The number is at least least.
func (p *parser) duration(least int) Duration {
	start := p.tok
	if !p.failed && start.Kind != predicate.NumberToken {
		p.failExpecting(durationHint)
		p.suggest(compactDuration(p.source[start.Start:start.End]))
		return Duration{}
	}
	d := Duration{Amount: p.integer("the number of a duration", least, 1_000_000)}
	d.Unit = p.unit()
	const year = 365 * 24 * 3600 * 1_000_000
	if !p.failed && d.Micros() > MaxYears*year {
		p.fail(start, predicate.Error{Message: "the duration is longer than " + itoa(MaxYears) + " years"})
	}
	return d
}

func (p *parser) unit() predicate.Unit {
	unit := units[strings.TrimSuffix(p.tok.Text, "s")]
	if !p.failed && (p.tok.Kind != predicate.WordToken || unit == 0) {
		p.failExpecting("a unit of time: minutes, hours, days, weeks or months", unitWords...)
	}
	p.advance()
	return unit
}

// compactDuration returns the words for a duration of predicates, such as "3 days" for 3d. It
// returns "" for other texts, and for units that the steps of workflows do not have.
func compactDuration(text string) string {
	digits := strings.TrimRight(text, "abcdefghijklmnopqrstuvwxyz")
	n, err := strconv.Atoi(digits)
	unit, known := map[string]predicate.Unit{"m": predicate.Minute, "h": predicate.Hour, "d": predicate.Day, "w": predicate.Week, "mo": predicate.Month}[text[len(digits):]]
	if err != nil || !known {
		return ""
	}
	return Duration{Amount: n, Unit: unit}.String()
}

// attribute parses the name of a datetime attribute, written attr.<name>.
func (p *parser) attribute() (string, Offset) {
	t := p.tok
	if !p.failed && t.Kind != predicate.AttributeToken {
		p.failExpecting("a datetime attribute, written attr.<name>")
		if t.Kind == predicate.WordToken {
			p.suggest("attr." + t.Text)
		}
	}
	p.advance()
	return t.Text, Offset(t.Start)
}

// percent parses a whole number from 1 to 99 and "%".
func (p *parser) percent() int {
	n := p.integer("a percentage", 1, 99)
	p.sign("%")
	return n
}
