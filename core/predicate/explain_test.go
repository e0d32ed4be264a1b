package predicate

import (
	"strconv"
	"strings"
)

// Explain returns an English sentence that says which contacts match. Names and texts from
// the predicate are quoted and escaped for display. The wording may change between
// versions.
func (c *Checked) Explain() string {
	return "Contacts " + clause(c.Root, false, false) + "."
}

// clause returns a node as a relative clause, such as "whose plan is ...". If negated is
// set, it describes the negation of the node: it moves the "not" into the tests, which does
// not change the result. If inner is set, the clause of an "and" or "or" gets parentheses.
func clause(n Node, negated, inner bool) string {
	switch n := n.(type) {
	case *And:
		return clauses(n.Terms, !negated, negated, inner)
	case *Or:
		return clauses(n.Terms, negated, negated, inner)
	case *Not:
		return clause(n.Term, !negated, inner)
	case *Compare:
		return fieldPhrase(n.Field, opPhrase(n.Op.negatedIf(negated), n.Field.Type), valueWords(n.Value))
	case *In:
		return fieldPhrase(n.Field, pick(negated, "is none of", "is one of"), listWords(n.Values))
	case *Match:
		return fieldPhrase(n.Field, matchPhrase(n.How, negated), quote(n.Text))
	case *Known:
		return fieldPhrase(n.Field, pick(n.Want == negated, "is not known", "is known"))
	case *Age:
		return fieldPhrase(n.Field, ageWords(n, negated))
	case *EventTest:
		return eventClause(n, negated)
	case *Consent:
		return consentClause(n, negated)
	case *Membership:
		return "who are " + pick(negated, "not ", "") + pick(n.Segment, "in the segment ", "on the list ") + quote(n.Key)
	}
	return ""
}

func clauses(terms []Node, all, negated, inner bool) string {
	parts := make([]string, 0, len(terms))
	for _, term := range terms {
		parts = append(parts, clause(term, negated, true))
	}
	text := strings.Join(parts, pick(all, ", and ", ", or "))
	if inner {
		return "(" + text + ")"
	}
	return text
}

func pick(first bool, a, b string) string {
	if first {
		return a
	}
	return b
}

func fieldPhrase(f Field, words ...string) string {
	name := quote(f.Name)
	if f.Source == Email {
		name = "email address"
	}
	return "whose " + name + " " + strings.Join(words, " ")
}

// negatedIf returns the opposite operator, such as >= for <, if negated is set; otherwise
// it returns o.
func (o Op) negatedIf(negated bool) Op {
	if !negated {
		return o
	}
	return [...]Op{
		Equal: NotEqual, NotEqual: Equal, Less: GreaterOrEqual, GreaterOrEqual: Less, Greater: LessOrEqual, LessOrEqual: Greater,
	}[o]
}

func matchPhrase(how MatchKind, negated bool) string {
	if negated {
		return [...]string{StartsWith: "does not start with", EndsWith: "does not end with", Contains: "does not contain"}[how]
	}
	return [...]string{StartsWith: "starts with", EndsWith: "ends with", Contains: "contains"}[how]
}

// ageWords returns the words for a comparison of an age, such as "was more than 14 days
// ago". A time in the future has a negative age.
func ageWords(n *Age, negated bool) string {
	if n.Between {
		return pick(negated, "was not", "was") + " between " + n.Low.words() + " and " + n.High.words() + " ago"
	}
	phrase := [...]string{
		Equal: "was exactly", NotEqual: "was not exactly", Less: "lies ahead or was less than",
		LessOrEqual: "lies ahead or was at most", Greater: "was more than", GreaterOrEqual: "was at least",
	}[n.Op.negatedIf(negated)]
	return phrase + " " + n.Low.words() + " ago"
}

func eventClause(n *EventTest, negated bool) string {
	op := n.Op
	if n.Kind != Exists {
		op = op.negatedIf(negated)
	}
	figure := ""
	switch n.Kind {
	case Exists:
		return "who have " + pick(negated, "no ", "at least one ") + sourceWords(n.Source, false)
	case Count:
		return "who have " + countWords(op) + " " + number(n.Number) + " " + sourceWords(n.Source, n.Number != 1)
	case Last, First:
		return "whose " + pick(n.Kind == Last, "latest ", "first ") + sourceWords(n.Source, false) + " " + opPhrase(op, Datetime) + " " + momentWords(n.Time)
	case Sum:
		figure = "sum of"
	case Avg:
		figure = "average"
	case Min:
		figure = "smallest"
	case Max:
		figure = "largest"
	}
	return "whose " + figure + " " + quote(n.Field.Name) + " over " + sourceWords(n.Source, true) + " " + opPhrase(op, Number) + " " + number(n.Number)
}

func countWords(op Op) string {
	return [...]string{
		Equal: "exactly", NotEqual: "any number but", Less: "fewer than", LessOrEqual: "at most", Greater: "more than", GreaterOrEqual: "at least",
	}[op]
}

func sourceWords(s EventSource, plural bool) string {
	text := strings.ReplaceAll(s.Event.Kind.String(), "_", " ") + pick(plural, " events", " event")
	if s.Event.Kind == ActivityEvent {
		text = quote(s.Event.Activity) + pick(plural, " activities", " activity")
	}
	if s.HasWithin {
		text += " within the last " + s.Within.words()
	}
	if s.HasBetween {
		text += " " + spanWords(s.Between)
	}
	if s.Where != nil {
		text += " (" + clause(s.Where, false, false) + ")"
	}
	return text
}

func spanWords(s Span) string {
	if day := units[Day].micros; s.Until%day == 0 {
		return "from " + timeWords(s.From) + " through " + timeWords(s.Until-day)
	}
	return "from " + timeWords(s.From) + " to " + timeWords(s.Until-1)
}

func consentClause(n *Consent, negated bool) string {
	are := pick(negated, "who are not ", "who are ")
	switch n.Kind {
	case Suppressed:
		return "whose address is " + pick(negated, "not ", "") + "suppressed"
	case UnsubscribedAll:
		return are + "unsubscribed from all mail"
	case OptedOut:
		return are + "opted out of the topic " + quote(n.Topic) + defaultPhrase(!n.DefaultIn)
	}
	return are + "subscribed to the topic " + quote(n.Topic) + defaultPhrase(n.DefaultIn)
}

func defaultPhrase(is bool) string {
	return pick(is, " (which is its default)", " (which is not its default)")
}

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
