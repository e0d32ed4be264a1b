package predicate

import "strings"

// Explain returns an English sentence that says which contacts match. Names and texts from
// the predicate are quoted and escaped for display. The wording may change between
// versions. [Checked.Parts] returns the same words test by test.
func (c *Checked) Explain() string {
	return "Contacts " + clause(c.Root) + "."
}

// Condition returns the predicate as a condition about contacts called "they", such as
// `their plan is "pro", and they are on the list "vip"`. Names and texts are quoted and
// escaped as in [Checked.Explain], and the wording may change between versions.
func (c *Checked) Condition() string {
	return sentence(c.Root, false, false, func(n Node, negated bool) string { return testPhrase(n, negated).condition() })
}

// Condition returns the same words as [Checked.Condition], except for what only a schema
// says: a field has the type of the value that it is compared with, and the defaults of
// topics are left out.
func (t *Tree) Condition() string {
	return sentence(t.Root, false, false, func(n Node, negated bool) string {
		if consent, ok := n.(*Consent); ok {
			return consentPhrase(consent, negated, "").condition()
		}
		return testPhrase(n, negated).condition()
	})
}

// clause returns a node as a relative clause, such as "whose plan is ...".
func clause(n Node) string {
	return sentence(n, false, false, func(n Node, negated bool) string { return testPhrase(n, negated).clause() })
}

// sentence joins the words of tests. If negated is set, it describes the negation of the
// node: it moves the "not" into the tests, which does not change the result. If inner is
// set, an "and" or "or" gets parentheses.
func sentence(n Node, negated, inner bool, test func(n Node, negated bool) string) string {
	var terms []Node
	all := !negated
	switch n := n.(type) {
	case *And:
		terms = n.Terms
	case *Or:
		terms, all = n.Terms, negated
	case *Not:
		return sentence(n.Term, !negated, inner, test)
	default:
		return test(n, negated)
	}
	parts := make([]string, 0, len(terms))
	for _, term := range terms {
		parts = append(parts, sentence(term, negated, true, test))
	}
	text := strings.Join(parts, pick(all, ", and ", ", or "))
	if inner {
		return "(" + text + ")"
	}
	return text
}

// phrase is what a test says about a contact. With the verb whose, the text is a whole
// statement ("plan is ..."). Otherwise the verb comes before the text.
type phrase struct {
	verb verb
	text string
}

type verb uint8

const (
	whose verb = iota
	have
	are
)

// clause returns the phrase as a relative clause, for a sentence about several contacts.
func (p phrase) clause() string {
	return [...]string{whose: "whose ", have: "who have ", are: "who are "}[p.verb] + p.text
}

// statement returns the phrase as a statement about one contact.
func (p phrase) statement() string {
	return [...]string{whose: "", have: "has ", are: "is "}[p.verb] + p.text
}

// condition returns the phrase as a condition about contacts called "they".
func (p phrase) condition() string {
	return [...]string{whose: "their ", have: "they have ", are: "they are "}[p.verb] + p.text
}

// testPhrase returns the phrase of a test. If negated is set, it is the phrase of the
// test's negation.
func testPhrase(n Node, negated bool) phrase {
	switch n := n.(type) {
	case *Compare:
		return fieldPhrase(n.Field, opPhrase(n.Op.negatedIf(negated), n.comparedType()), valueWords(n.Value))
	case *In:
		return fieldPhrase(n.Field, pick(negated, "is none of", "is one of"), listWords(n.Values))
	case *Match:
		return fieldPhrase(n.Field, matchPhrase(n.How, negated), quote(n.Text))
	case *Known:
		return fieldPhrase(n.Field, pick(n.Want == negated, "is not known", "is known"))
	case *Age:
		return fieldPhrase(n.Field, ageWords(n, negated))
	case *EventTest:
		return eventPhrase(n, negated)
	case *Consent:
		return consentPhrase(n, negated, defaultPhrase(n.DefaultIn))
	case *Membership:
		return phrase{are, pick(negated, "not ", "") + pick(n.Segment, "in the segment ", "on the list ") + quote(n.Key)}
	}
	return phrase{}
}

func pick(first bool, a, b string) string {
	if first {
		return a
	}
	return b
}

func fieldPhrase(f Field, words ...string) phrase {
	name := nameWords(f.Name)
	if f.Source == Email {
		name = "email address"
	}
	return phrase{whose, name + " " + strings.Join(words, " ")}
}

// nameWords returns the name of an attribute or property. It is quoted unless it is a plain
// word that cannot be confused with the sentence around it.
func nameWords(name string) string {
	if isWord(name) && !reserved[name] {
		return name
	}
	return quote(name)
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

func eventPhrase(n *EventTest, negated bool) phrase {
	op := n.Op
	if n.Kind != Exists {
		op = op.negatedIf(negated)
	}
	figure := ""
	switch n.Kind {
	case Exists:
		return phrase{have, pick(negated, "no ", "at least one ") + sourceWords(n.Source, false)}
	case Count:
		return phrase{have, countWords(op) + " " + number(n.Number) + " " + sourceWords(n.Source, n.Number != 1)}
	case Last, First:
		return phrase{whose, pick(n.Kind == Last, "latest ", "first ") + sourceWords(n.Source, false) + " " + opPhrase(op, Datetime) + " " + momentWords(n.Time)}
	case Sum:
		figure = "sum of"
	case Avg:
		figure = "average"
	case Min:
		figure = "smallest"
	case Max:
		figure = "largest"
	}
	return phrase{whose, figure + " " + nameWords(n.Field.Name) + " over " + sourceWords(n.Source, true) + " " + opPhrase(op, Number) + " " + number(n.Number)}
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
		text += " (" + clause(s.Where) + ")"
	}
	return text
}

func spanWords(s Span) string {
	if day := units[Day].micros; s.Until%day == 0 {
		return "from " + timeWords(s.From) + " through " + timeWords(s.Until-day)
	}
	return "from " + timeWords(s.From) + " to " + timeWords(s.Until-1)
}

// comparedType returns the type of a comparison. In a Tree it is the type of the value.
func (n *Compare) comparedType() Type {
	if n.Field.Type == Unresolved {
		return n.Value.Type
	}
	return n.Field.Type
}

// consentPhrase returns the phrase of a test of consent. byDefault follows the name of a
// topic.
func consentPhrase(n *Consent, negated bool, byDefault string) phrase {
	not := pick(negated, "not ", "")
	switch n.Kind {
	case Suppressed:
		return phrase{whose, "address is " + not + "suppressed"}
	case UnsubscribedAll:
		return phrase{are, not + "unsubscribed from all mail"}
	case OptedOut:
		return phrase{are, not + "opted out of the topic " + quote(n.Topic) + byDefault}
	}
	return phrase{are, not + "subscribed to the topic " + quote(n.Topic) + byDefault}
}

// defaultPhrase returns what a topic's default is for contacts that made no choice.
func defaultPhrase(in bool) string {
	return pick(in, " (default: subscribed)", " (default: opted out)")
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

// listWords returns the values in words, separated by commas.
func listWords(values []Value) string {
	parts := make([]string, 0, len(values))
	for _, v := range values {
		parts = append(parts, valueWords(v))
	}
	return strings.Join(parts, ", ")
}
