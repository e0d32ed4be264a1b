package predicate

import (
	"strconv"
	"strings"
	"time"
)

// printer writes the canonical spelling.
type printer struct{ strings.Builder }

// Canonical returns a node in its canonical spelling; see [Tree.String]. Nodes with the same
// spelling and the same types have the same result for every contact.
func Canonical(n Node) string {
	var p printer
	p.print(n, 0)
	return p.String()
}

// The places in which an expression is printed: as a term of an "and", after a "not", or
// anywhere else. The expression gets parentheses if its operator binds less tightly than
// the "and" or "not" around it.
const (
	anywhere = iota
	insideAnd
	insideNot
)

func (p *printer) print(n Node, place int) {
	switch n := n.(type) {
	case *Or:
		p.join(n.Terms, " or ", anywhere, place > anywhere)
	case *And:
		p.join(n.Terms, " and ", insideAnd, place > insideAnd)
	case *Not:
		p.words("not ")
		p.print(n.Term, insideNot)
	case *Compare:
		p.field(n.Field)
		p.words(" ", n.Op.String(), " ")
		p.value(n.Value)
	case *In:
		p.printIn(n)
	case *Match:
		p.field(n.Field)
		p.words(" ", n.How.String(), " ")
		p.text(n.Text)
	case *Known:
		p.printKnown(n)
	case *Age:
		p.age(n)
	case *EventTest:
		p.event(n)
	case *Consent:
		p.consent(n)
	case *Membership:
		kind := "list "
		if n.Segment {
			kind = "segment "
		}
		p.words("in ", kind)
		p.text(n.Key)
	}
}

func (p *printer) words(words ...string) {
	for _, word := range words {
		p.WriteString(word)
	}
}

func (p *printer) join(terms []Node, by string, place int, parentheses bool) {
	if parentheses {
		p.words("(")
	}
	for i, term := range terms {
		if i > 0 {
			p.words(by)
		}
		p.print(term, place)
	}
	if parentheses {
		p.words(")")
	}
}

func (p *printer) field(f Field) {
	switch {
	case f.Source != Property:
		p.words("attr.", f.Name)
	case isWord(f.Name) && !reserved[f.Name]:
		p.words(f.Name)
	default:
		p.words("property.")
		p.name(f.Name, isWord(f.Name))
	}
}

func (p *printer) name(name string, bare bool) {
	if bare {
		p.words(name)
		return
	}
	p.text(name)
}

// isWord reports whether the lexer reads all of s as one word, so that s needs no quotes.
func isWord(s string) bool {
	return s != "" && isLetter(s[0]) && strings.IndexFunc(s, func(r rune) bool { return r > 0x7f || !isNameByte(byte(r)) }) < 0
}

func isActivityName(s string) bool {
	return s != "" && strings.IndexFunc(s, func(r rune) bool { return r > 0x7f || !isActivityByte(byte(r)) }) < 0
}

func (p *printer) printIn(n *In) {
	p.field(n.Field)
	p.words(" in [")
	for i, v := range n.Values {
		if i > 0 {
			p.words(", ")
		}
		p.value(v)
	}
	p.words("]")
}

func (p *printer) printKnown(n *Known) {
	if n.Prefix {
		p.words("has ")
		p.field(n.Field)
		return
	}
	p.field(n.Field)
	if n.Want {
		p.words(" is known")
		return
	}
	p.words(" is unknown")
}

func (p *printer) age(n *Age) {
	p.words("now - ")
	p.field(n.Field)
	if n.Between {
		p.words(" between ", n.Low.String(), " and ", n.High.String())
		return
	}
	p.words(" ", n.Op.String(), " ", n.Low.String())
}

func (p *printer) event(n *EventTest) {
	p.words(n.Kind.String(), "(")
	if n.Field.Name != "" {
		p.field(n.Field)
		p.words(" of ")
	}
	p.source(n.Source)
	p.words(")")
	switch n.Kind {
	case Exists:
	case Last, First:
		p.words(" ", n.Op.String(), " ")
		p.moment(n.Time)
	default:
		p.words(" ", n.Op.String(), " ", number(n.Number))
	}
}

func (p *printer) source(s EventSource) {
	p.words(s.Event.Kind.String())
	if s.Event.Kind == ActivityEvent {
		p.words(".")
		p.name(s.Event.Activity, isActivityName(s.Event.Activity))
	}
	if s.Where != nil {
		p.words(" where ")
		p.print(s.Where, anywhere)
	}
	if s.HasWithin {
		p.words(" within ", s.Within.String())
	}
	if s.HasBetween {
		p.words(" between ")
		p.absolute(s.Between.From)
		p.words(" and ")
		p.spanEnd(s.Between.Until)
	}
}

// spanEnd prints the end of a span of time. until is the first moment after the span, so
// spanEnd prints the last day or microsecond that the span includes.
func (p *printer) spanEnd(until int64) {
	if day := units[Day].micros; until%day == 0 {
		p.absolute(until - day)
		return
	}
	p.quotedTime(until - 1)
}

func (p *printer) consent(n *Consent) {
	switch n.Kind {
	case Suppressed:
		p.words("suppressed")
	case UnsubscribedAll:
		p.words("unsubscribed from all")
	case Subscribed:
		p.words("subscribed to ")
		p.text(n.Topic)
	case OptedOut:
		p.words("opted out of ")
		p.text(n.Topic)
	}
}

func (p *printer) value(v Value) {
	switch v.Type {
	case Number:
		p.words(number(v.Number))
	case Bool:
		p.words(strconv.FormatBool(v.Bool))
	case Datetime:
		p.moment(v.Moment)
	default:
		p.text(v.Text)
	}
}

func (p *printer) moment(m Moment) {
	switch {
	case !m.Relative:
		p.absolute(m.Micros)
	case m.Span.Unit == 0:
		p.words("now")
	case m.Micros < 0:
		p.words("now - ", m.Span.String())
	default:
		p.words("now + ", m.Span.String())
	}
}

func (p *printer) absolute(micros int64) {
	if micros%units[Day].micros == 0 {
		p.words(time.UnixMicro(micros).UTC().Format(time.DateOnly))
		return
	}
	p.quotedTime(micros)
}

func (p *printer) quotedTime(micros int64) {
	p.words(`"`, time.UnixMicro(micros).UTC().Format(time.RFC3339Nano), `"`)
}

var escapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`, "\t", `\t`)

func (p *printer) text(s string) { p.words(`"`, escapes.Replace(s), `"`) }

// String returns the duration as it is written in predicates, such as "1.5d".
func (d Duration) String() string {
	if d.Unit == 0 {
		return "0s"
	}
	return number(d.Amount) + d.Unit.String()
}

// number returns n in a spelling that the lexer can read.
func number(n float64) string {
	if n != 0 && (n >= 1e15 || n <= -1e15 || n < 1e-6 && n > -1e-6) {
		return strconv.FormatFloat(n, 'e', -1, 64)
	}
	return strconv.FormatFloat(n, 'f', -1, 64)
}
