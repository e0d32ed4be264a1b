package predicate

const (
	testHint     = `a test, such as attr.plan = "pro" or count(open within 30d) > 0`
	fieldHint    = `a test of a property, such as url contains "pricing"`
	operatorHint = `one of = != < <= > >=, "in", "is", "starts with", "ends with" or "contains"`
	valueHint    = `a value: a "string", a number, true, false, or a date`
)

// starters has the keywords with which a test of a contact can begin, for suggestions.
var starters = []string{
	"has", "now", "count", "exists", "sum", "avg", "min", "max", "last", "first",
	"subscribed", "opted", "unsubscribed", "suppressed", "in", "not",
}

// contactTest parses one test of a contact. Tests inside of a where-condition are parsed by
// fieldTest.
func (p *parser) contactTest() Node {
	start := p.tok
	if start.kind == tokenAttribute {
		return p.fieldTest()
	}
	if start.kind != tokenWord {
		p.notATest()
		return nil
	}
	switch start.text {
	case "has":
		return p.fieldTest()
	case "now":
		return p.age()
	case "subscribed", "opted", "unsubscribed", "suppressed":
		return p.consent()
	case "in":
		return p.member()
	}
	for kind, word := range testWords {
		if word == start.text {
			return p.eventTest(EventTestKind(kind))
		}
	}
	p.notATest()
	return nil
}

// notATest records the fault that the current token does not begin a test. If the token is
// a bare name before an operator, the fault suggests the attribute of that name.
func (p *parser) notATest() {
	t := p.tok
	switch {
	case t.kind == tokenActivity:
		p.fail(t, Error{Message: "an activity alone is not a test", Expected: "count(activity.x) > 0, exists(activity.x) or the like"})
		return
	case t.kind == tokenWord && eventKind(t.text) < ActivityEvent && p.peek().kind != tokenEnd:
		p.fail(t, Error{Message: "an event alone is not a test", Expected: "count(" + t.text + ") > 0, exists(" + t.text + ") or the like"})
		return
	}
	p.failExpecting(testHint, starters...)
	switch kind, past := eventOfVerb[t.text]; {
	case t.kind != tokenWord:
	case past:
		p.fault.Suggestion = "exists(" + kind.String() + " within 30d)"
	case !reserved[t.text] && startsOperator(p.peek()):
		p.fault.Suggestion = suggestAttribute(t.text)
	}
}

// peek returns the token after the current one without consuming any.
func (p *parser) peek() token {
	ahead := p.lexer
	return ahead.next()
}

func startsOperator(t token) bool {
	switch t.kind {
	case tokenSymbol:
		return opOf(t.text) != 0
	case tokenWord:
		return t.text == "is" || t.text == "in" || t.text == "starts" || t.text == "ends" || t.text == "contains"
	default:
		return false
	}
}

// fieldTest parses a test of an attribute or, inside of a where-condition, of an event
// property.
func (p *parser) fieldTest() Node {
	at := Offset(p.tok.start)
	if p.accept("has") {
		return &Known{Offset: at, Field: p.field(), Want: true, Prefix: true}
	}
	f := p.field()
	if p.fault != nil {
		return nil
	}
	if op := opOf(p.tok.text); p.tok.kind == tokenSymbol && op != 0 {
		p.advance()
		literal := Offset(p.tok.start)
		return &Compare{Offset: at, Field: f, Op: op, Value: p.value(true), ValueAt: literal}
	}
	if p.tok.kind == tokenWord {
		switch p.tok.text {
		case "in":
			return p.parseIn(at, f)
		case "is":
			p.advance()
			return &Known{Offset: at, Field: f, Want: p.parseKnown()}
		case "starts", "ends", "contains":
			return p.match(at, f)
		}
	}
	t := p.tok
	p.failExpecting(operatorHint, "in", "is", "starts", "ends", "contains")
	switch {
	case t.is("like"), t.is("includes"):
		p.fault.Suggestion = "contains"
	case t.is("between"):
		p.fault.Suggestion = f.title() + " >= low and " + f.title() + " <= high"
	case t.is("within"):
		p.fault.Suggestion = f.title() + " > now - 30d"
	}
	return nil
}

func (p *parser) parseKnown() bool {
	known := p.tok.is("known")
	if !known && !p.tok.is("unknown") {
		t := p.tok
		p.failExpecting(`"known" or "unknown"`)
		if t.is("null") {
			p.fault.Suggestion = "unknown"
		} else if t.is("not") {
			p.fault.Suggestion = "known"
		}
	}
	p.advance()
	return known
}

func (p *parser) match(at Offset, f Field) Node {
	how := Contains
	switch p.tok.text {
	case "starts":
		how = StartsWith
	case "ends":
		how = EndsWith
	}
	p.advance()
	if how != Contains {
		p.word("with")
	}
	return &Match{Offset: at, Field: f, How: how, Text: p.text(`a "string" to look for`)}
}

// field parses an attribute such as attr.plan or, inside of a where-condition, the name of
// an event property.
func (p *parser) field() Field {
	t := p.tok
	f := Field{Offset: Offset(t.start), Name: t.text}
	switch {
	case p.fault != nil:
		return f
	case p.event == nil && t.kind == tokenAttribute:
		if t.text == "email" {
			f.Source = Email
		}
	case p.event == nil:
		p.failExpecting("an attribute, written attr.<name>")
		if t.is("last") || t.is("first") {
			p.fault.Suggestion = t.text + "(open) < now - 30d"
		}
		if t.kind == tokenWord && !reserved[t.text] {
			p.fault.Suggestion = suggestAttribute(t.text)
		}
	case t.kind == tokenProperty, t.kind == tokenWord && !reserved[t.text]:
		f.Source = Property
	case t.kind == tokenAttribute:
		p.fail(t, Error{Message: "where tests properties of the event, not attributes of the contact", Expected: fieldHint})
	case t.kind == tokenWord && startsOperator(p.peek()):
		p.fail(t, Error{Message: quote(t.text) + " is a keyword of the language", Suggestion: "property." + t.text})
	default:
		p.failExpecting(fieldHint)
	}
	p.advance()
	return f
}

// age parses the grammar rule: "now" "-" ATTR ( op DUR | "between" DUR "and" DUR ).
func (p *parser) age() Node {
	age := &Age{Offset: Offset(p.tok.start)}
	p.advance()
	p.sign("-")
	age.Field = p.field()
	if p.accept("between") {
		at := p.tok
		age.Between = true
		age.Low, age.High = p.duration(), p.andDuration()
		if p.fault == nil && age.Low.Micros() > age.High.Micros() {
			p.fail(at, Error{Message: "the first duration of between is longer than the second"})
		}
		return age
	}
	age.Op = p.op()
	age.Low = p.duration()
	return age
}

func (p *parser) andDuration() Duration {
	p.word("and")
	return p.duration()
}

func (p *parser) consent() Node {
	c := &Consent{Offset: Offset(p.tok.start)}
	word := p.tok.text
	p.advance()
	switch word {
	case "suppressed":
		c.Kind = Suppressed
	case "unsubscribed":
		c.Kind = UnsubscribedAll
		p.word("from")
		p.word("all")
	case "subscribed":
		p.word("to")
		c.TopicAt = Offset(p.tok.start)
		c.Topic = p.text(`the "name" of a topic`)
	case "opted":
		c.Kind = OptedOut
		p.word("out")
		p.word("of")
		c.TopicAt = Offset(p.tok.start)
		c.Topic = p.text(`the "name" of a topic`)
	}
	return c
}

// member parses the grammar rule: "in" ("list" | "segment") STRING.
func (p *parser) member() Node {
	start := p.tok
	if p.membership++; p.membership > MaxMembership {
		p.limit(LimitMembership, start.start)
		return nil
	}
	p.advance()
	m := &Membership{Offset: Offset(start.start), Segment: p.tok.is("segment")}
	if p.fault == nil && !m.Segment && !p.tok.is("list") {
		p.failExpecting(`"list" or "segment"`)
	}
	p.advance()
	m.KeyAt = Offset(p.tok.start)
	m.Key = p.text(`the "key" of it`)
	return m
}

// suggestAttribute returns the suggestion to write a bare word as an attribute: attr.plan
// for plan. It returns "" for a word of more than 30 bytes, because the suggestion would
// repeat it.
func suggestAttribute(word string) string {
	const longest = 30
	if len(word) > longest {
		return ""
	}
	return "attr." + word
}
