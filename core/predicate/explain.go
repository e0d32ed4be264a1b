package predicate

import (
	"strconv"
	"strings"
	"time"
)

// Explain says in plain words, in one sentence, which contacts are in. Names and
// texts of others stand in quotation marks, made fit to be shown. The words are for
// people: they change with the language of the product, not with the predicate.
func (c *Checked) Explain() string {
	return "Contacts " + clause(c.Root, false) + "."
}

// clause is a node as a relative clause: "whose plan is ...". Inside of another it
// is bracketed where "and" and "or" would run into each other.
func clause(n Node, inner bool) string {
	switch n := n.(type) {
	case *And:
		return bracketed(n.Terms, ", and ", inner)
	case *Or:
		return bracketed(n.Terms, ", or ", inner)
	case *Not:
		return "for whom it is false that they are those " + clause(n.Term, true)
	case *EventTest:
		return eventClause(n)
	case *Consent:
		return consentClause(n)
	case *Membership:
		if n.Segment {
			return "who are in the segment " + quoted(n.Key)
		}
		return "who are on the list " + quoted(n.Key)
	}
	return "whose " + condition(n)
}

func bracketed(terms []Node, by string, inner bool) string {
	parts := make([]string, 0, len(terms))
	for _, term := range terms {
		parts = append(parts, clause(term, true))
	}
	text := strings.Join(parts, by)
	if inner {
		return "(" + text + ")"
	}
	return text
}

// condition is a test of a field: "plan is ...".
func condition(n Node) string {
	switch n := n.(type) {
	case *And:
		return conditions(n.Terms, " and ")
	case *Or:
		return conditions(n.Terms, " or ")
	case *Not:
		return "not (" + condition(n.Term) + ")"
	case *Compare:
		return fieldWords(n.Field) + " " + opPhrase(n.Op, n.Field.Type) + " " + valueWords(n.Value)
	case *In:
		parts := make([]string, 0, len(n.Values))
		for _, v := range n.Values {
			parts = append(parts, valueWords(v))
		}
		return fieldWords(n.Field) + " is one of " + strings.Join(parts, ", ")
	case *Match:
		verb := [...]string{StartsWith: "starts with", EndsWith: "ends with", Contains: "contains"}[n.How]
		return fieldWords(n.Field) + " " + verb + " " + quoted(n.Text)
	case *Known:
		if n.Want {
			return fieldWords(n.Field) + " is known"
		}
		return fieldWords(n.Field) + " is not known"
	case *Age:
		return ageWords(n)
	}
	return ""
}

func conditions(terms []Node, by string) string {
	parts := make([]string, 0, len(terms))
	for _, term := range terms {
		parts = append(parts, condition(term))
	}
	return "(" + strings.Join(parts, by) + ")"
}

func fieldWords(f Field) string {
	if f.Source == Email {
		return "email address"
	}
	return quoted(f.Name)
}

func ageWords(n *Age) string {
	f := fieldWords(n.Field)
	if n.Between {
		return f + " was between " + n.Low.words() + " and " + n.High.words() + " ago"
	}
	switch n.Op {
	case Less, LessOrEqual:
		return f + " was " + n.Low.words() + " ago or later" + exactly(n.Op == Less)
	case Greater, GreaterOrEqual:
		return f + " was " + n.Low.words() + " ago or earlier" + exactly(n.Op == Greater)
	case NotEqual:
		return f + " was not exactly " + n.Low.words() + " ago"
	default:
		return f + " was exactly " + n.Low.words() + " ago"
	}
}

func exactly(strict bool) string {
	if strict {
		return " (not at that very moment)"
	}
	return ""
}

func eventClause(n *EventTest) string {
	source := sourceWords(n.Source)
	switch n.Kind {
	case Exists:
		return "who have at least one " + source
	case Count:
		return "whose number of " + source + " " + opPhrase(n.Op, Number) + " " + number(n.Number)
	case Last, First:
		verb := "first"
		if n.Kind == Last {
			verb = "latest"
		}
		return "whose " + verb + " " + source + " " + opPhrase(n.Op, Datetime) + " " + momentWords(n.Time)
	}
	figure := map[EventTestKind]string{Sum: "sum", Avg: "average", Min: "smallest", Max: "largest"}[n.Kind]
	return "whose " + figure + " of " + quoted(n.Field.Name) + " over " + source + " " + opPhrase(n.Op, Number) + " " + number(n.Number)
}

func sourceWords(s EventSource) string {
	text := strings.ReplaceAll(s.Event.Kind.String(), "_", " ")
	if s.Event.Kind == ActivityEvent {
		text += " " + quoted(s.Event.Activity)
	} else {
		text += " event"
	}
	if s.Where != nil {
		text += " with " + condition(s.Where)
	}
	if s.HasWithin {
		text += " within the last " + s.Within.words()
	}
	if s.HasBetween {
		text += " from " + timeWords(s.Between.From) + " until before " + timeWords(s.Between.Until)
	}
	return text
}

func consentClause(n *Consent) string {
	switch n.Kind {
	case Suppressed:
		return "whose address is suppressed"
	case UnsubscribedAll:
		return "who unsubscribed from all mail"
	case OptedOut:
		return "who are opted out of the topic " + quoted(n.Topic) + byDefault(!n.DefaultIn)
	}
	return "who are subscribed to the topic " + quoted(n.Topic) + byDefault(n.DefaultIn)
}

func byDefault(is bool) string {
	if is {
		return " (as who made no choice is)"
	}
	return ""
}

func opPhrase(op Op, t Type) string {
	if t == Datetime {
		return [...]string{
			Equal: "is exactly", NotEqual: "is not exactly", Less: "is before", LessOrEqual: "is not after",
			Greater: "is after", GreaterOrEqual: "is not before",
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
		return quoted(v.Text)
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

// words is the duration in words: "30 days".
func (d Duration) words() string {
	if d.Amount == 1 {
		return "1 " + units[d.Unit].word
	}
	return number(d.Amount) + " " + units[d.Unit].word + "s"
}
