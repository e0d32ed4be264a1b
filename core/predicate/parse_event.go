package predicate

import "slices"

// eventKind returns the kind of message event that a word names. For other words it returns
// a value greater than ActivityEvent, which is no valid kind.
func eventKind(word string) EventKind {
	if i := slices.Index(eventWords[:ActivityEvent], word); i >= 0 {
		return EventKind(i)
	}
	return ActivityEvent + 1
}

// eventTest parses a test of events. kind is the kind of test that the current token names,
// such as Count for "count".
func (p *parser) eventTest(kind EventTestKind) Node {
	start := p.tok
	if p.events++; p.events > MaxEventTerms {
		p.limit(LimitEventTerms, start.start)
		return nil
	}
	test := &EventTest{Offset: Offset(start.start), Kind: kind}
	p.advance()
	p.sign("(")
	switch kind {
	case Sum, Avg, Min, Max:
		test.Field = p.parseAggregated()
		p.word("of")
	}
	test.Source = p.eventSource()
	p.sign(")")
	switch kind {
	case Exists:
	case Last, First:
		test.Op = p.op()
		test.Time = p.moment()
	default:
		test.Op = p.op()
		test.Number = p.number()
	}
	return test
}

// parseAggregated parses the name of the property that sum, avg, min or max aggregates.
func (p *parser) parseAggregated() Field {
	t := p.tok
	f := Field{Offset: Offset(t.start), Source: Property, Name: t.text}
	if p.fault == nil && t.kind != tokenProperty && (t.kind != tokenWord || reserved[t.text]) {
		p.failExpecting(`a property of the event and "of", such as sum(amount of activity.purchase)`)
	}
	p.advance()
	return f
}

// eventSource parses the grammar rule: EVENT { "where" cond | "within" DUR | "between" DATE
// "and" DATE }.
func (p *parser) eventSource() EventSource {
	s := EventSource{Offset: Offset(p.tok.start)}
	s.Event = p.eventName()
	for p.fault == nil {
		t := p.tok
		switch {
		case p.accept("where"):
			s.Where = p.parseWhere(t, s)
		case p.accept("within"):
			if s.HasWithin {
				p.fail(t, Error{Message: "within occurs twice"})
			}
			s.HasWithin, s.Within = true, p.duration()
		case p.accept("between"):
			if s.HasBetween {
				p.fail(t, Error{Message: "between occurs twice"})
			}
			s.HasBetween, s.Between = true, p.span()
		default:
			if !t.sign(")") {
				p.failExpecting(`"where", "within", "between" or ")"`, "where", "within", "between", "and", "or")
			}
			return s
		}
	}
	return s
}

// eventName parses EVENT.
func (p *parser) eventName() Event {
	t := p.tok
	event := Event{Kind: ActivityEvent, Activity: t.text}
	if t.kind == tokenWord {
		event = Event{Kind: eventKind(t.text)}
	}
	if p.fault == nil && (t.kind != tokenWord && t.kind != tokenActivity || event.Kind > ActivityEvent) {
		p.failExpecting("an event: send, delivery, open, click, bounce, complaint, reject, delivery_delay or activity.<name>", eventWords[:ActivityEvent]...)
		if t.kind == tokenWord && p.fault.Suggestion == "" && !reserved[t.text] {
			p.fault.Suggestion = "activity." + t.text
		}
	}
	p.advance()
	return event
}

// parseWhere parses the condition after the token t, which is "where". If the source
// already has a condition, it combines both with "and".
func (p *parser) parseWhere(t token, s EventSource) Node {
	if !p.enterLevel(t) {
		return nil
	}
	p.event = &s.Event
	condition := p.parseOr()
	p.event = nil
	p.depth--
	if s.Where == nil || p.fault != nil {
		return condition
	}
	if _, is := s.Where.(*And); !is {
		p.count(t)
	}
	both := &And{Offset: s.Where.Pos(), Terms: appendAnd(appendAnd(nil, s.Where), condition)}
	if p.depth+1+levels(both) > MaxDepth {
		p.limit(LimitDepth, t.start)
	}
	return both
}

// levels returns the nesting depth of n in its canonical spelling. The parser calls it for
// two conditions that it joins with "and", because the joined form may need parentheses
// that neither condition has alone.
func levels(n Node) int {
	deepest := 0
	switch n := n.(type) {
	case *And:
		for _, term := range n.Terms {
			deepest = max(deepest, levelsWithin(term, insideAnd))
		}
		return deepest
	case *Or:
		for _, term := range n.Terms {
			deepest = max(deepest, levels(term))
		}
		return deepest
	case *Not:
		return 1 + levelsWithin(n.Term, insideNot)
	}
	return 1
}

func levelsWithin(n Node, place int) int {
	switch n.(type) {
	case *Or:
		return 1 + levels(n)
	case *And:
		if place == insideNot {
			return 1 + levels(n)
		}
	}
	return levels(n)
}

// span parses the grammar rule: DATE "and" DATE. If the end is a date without a time, the
// span includes that whole day.
func (p *parser) span() Span {
	const expected = "a date, YYYY-MM-DD"
	start := p.tok
	from := p.absolute(expected)
	p.word("and")
	end := p.tok
	until := p.absolute(expected)
	if end.kind == tokenDate {
		until += units[Day].micros
	} else {
		until++
	}
	if p.fault == nil && until <= from {
		p.fail(start, Error{Message: "the first date of between is after the second"})
	}
	return Span{From: from, Until: until}
}
