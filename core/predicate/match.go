package predicate

import (
	"strings"
	"time"
)

// Match evaluates the predicate for one contact at the time now. The contact matches only
// if the result is True.
func (c *Checked) Match(s Subject, now time.Time) Truth {
	e := evaluation{subject: &s, now: now.UnixMicro(), at: now}
	return e.node(c.Root)
}

// evaluation is the state of one evaluation of a predicate. occurrence is the event that a
// where-condition or an aggregate reads.
type evaluation struct {
	subject    *Subject
	now        int64
	at         time.Time
	occurrence *Occurrence
}

func (e *evaluation) node(n Node) Truth {
	switch n := n.(type) {
	case *And:
		return e.evalAnd(n.Terms)
	case *Or:
		return e.evalOr(n.Terms)
	case *Not:
		return e.node(n.Term).Not()
	case *Compare:
		return e.compare(n)
	case *In:
		return e.evalIn(n)
	case *Match:
		return e.match(n)
	case *Known:
		_, known := e.value(n.Field)
		return truthOf(known == n.Want)
	case *Age:
		return e.age(n)
	case *EventTest:
		return e.eventTest(n)
	case *Consent:
		return truthOf(e.consent(n))
	case *Membership:
		if n.Segment {
			return truthOf(e.subject.Segments[n.ID])
		}
		return truthOf(e.subject.Lists[n.ID])
	}
	return Unknown
}

func (e *evaluation) evalAnd(terms []Node) Truth {
	least := True
	for _, term := range terms {
		if least = min(least, e.node(term)); least == False {
			return False
		}
	}
	return least
}

func (e *evaluation) evalOr(terms []Node) Truth {
	greatest := False
	for _, term := range terms {
		if greatest = max(greatest, e.node(term)); greatest == True {
			return True
		}
	}
	return greatest
}

// value returns the value of a field of the contact or, inside of where, of the event.
// known is false if the value is absent or not of the field's type.
func (e *evaluation) value(f Field) (v Value, known bool) {
	switch f.Source {
	case Email:
		return StringValue(e.subject.Email), true
	case Attribute:
		v, known = e.subject.Attributes[f.Name]
	case Property:
		v, known = e.occurrence.Properties[f.Name]
	}
	if v.Type == Number && !(v.Number >= -MaxNumber && v.Number <= MaxNumber) { // NaN, too
		known = false
	}
	return v, known && v.Type == f.Type
}

func (e *evaluation) compare(n *Compare) Truth {
	v, known := e.value(n.Field)
	if !known {
		return Unknown
	}
	switch n.Field.Type {
	case Number:
		return truthOf(Holds(n.Op, v.Number, n.Value.Number))
	case Datetime:
		return truthOf(Holds(n.Op, v.Moment.Micros, n.Value.Moment.At(e.at)))
	}
	return truthOf(e.isSame(v, n.Value) == (n.Op == Equal))
}

func (e *evaluation) isSame(v, literal Value) bool {
	switch v.Type {
	case Number:
		return v.Number == literal.Number
	case Bool:
		return v.Bool == literal.Bool
	case Datetime:
		return v.Moment.Micros == literal.Moment.Micros
	default:
		return v.Text == literal.Text
	}
}

func (e *evaluation) evalIn(n *In) Truth {
	v, known := e.value(n.Field)
	if !known {
		return Unknown
	}
	for _, literal := range n.Values {
		if e.isSame(v, literal) {
			return True
		}
	}
	return False
}

func (e *evaluation) match(n *Match) Truth {
	v, known := e.value(n.Field)
	if !known {
		return Unknown
	}
	switch n.How {
	case StartsWith:
		return truthOf(strings.HasPrefix(v.Text, n.Text))
	case EndsWith:
		return truthOf(strings.HasSuffix(v.Text, n.Text))
	default:
		return truthOf(strings.Contains(v.Text, n.Text))
	}
}

func (e *evaluation) age(n *Age) Truth {
	v, known := e.value(n.Field)
	if !known {
		return Unknown
	}
	age := e.now - v.Moment.Micros
	if n.Between {
		return truthOf(n.Low.Micros() <= age && age <= n.High.Micros())
	}
	return truthOf(Holds(n.Op, age, n.Low.Micros()))
}

func (e *evaluation) consent(n *Consent) bool {
	switch n.Kind {
	case Suppressed:
		return e.subject.Suppressed
	case UnsubscribedAll:
		return e.subject.UnsubscribedFromAll
	}
	in, explicit := e.subject.Topics[n.Topic]
	if !explicit {
		in = n.DefaultIn
	}
	if n.Kind == OptedOut {
		return !in
	}
	return in && !e.subject.UnsubscribedFromAll && !e.subject.Stub
}

// Holds reports whether "a op b" is true, such as "3 < 4".
func Holds[T int64 | float64](op Op, a, b T) bool {
	switch op {
	case Equal:
		return a == b
	case NotEqual:
		return a != b
	case Less:
		return a < b
	case LessOrEqual:
		return a <= b
	case Greater:
		return a > b
	case GreaterOrEqual:
		return a >= b
	}
	return false
}
