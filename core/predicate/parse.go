package predicate

import (
	"strings"
	"unicode/utf8"

	"github.com/mailhelm/mailhelm/core"
)

// parser is a recursive descent with one token of lookahead. After the first fault
// every method returns at once, with a value that no code uses.
type parser struct {
	lexer
	tok                              token
	last                             int // where the token before tok ends
	fault                            *Error
	nodes, depth, events, membership int
	// event is what the fields of the where-condition being read belong to; nil
	// outside of one.
	event *Event
}

func newParser(source string, from int) *parser {
	p := &parser{lexer: lexer{source: source, at: from}}
	switch {
	case len(source) > MaxSource:
		p.limit(LimitSource, 0)
	case !utf8.ValidString(source):
		p.fail(token{start: invalidAt(source)}, Error{Message: "the text is not valid UTF-8"})
	default:
		p.tok = p.next()
	}
	return p
}

func invalidAt(s string) int {
	for i, r := range s {
		if r == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(s[i:]); size == 1 {
				return i
			}
		}
	}
	return 0
}

// predicate := or_expr. Nothing else is read when there is a fault already.
func (p *parser) predicate() Node {
	if p.fault != nil {
		return nil
	}
	if p.tok.kind == tokenEnd {
		p.fail(p.tok, Error{Message: "the predicate is empty", Expected: testHint})
		return nil
	}
	return p.or()
}

// or := and { "or" and }.
func (p *parser) or() Node {
	start := p.tok
	first := p.and()
	if p.fault != nil || !p.tok.is("or") {
		return first
	}
	p.count(start)
	terms := appendOr(nil, first)
	for p.fault == nil && p.tok.is("or") {
		p.advance()
		terms = appendOr(terms, p.and())
	}
	return &Or{Offset: Offset(start.start), Terms: terms}
}

// and := not { "and" not }.
func (p *parser) and() Node {
	start := p.tok
	first := p.not()
	if p.fault != nil || !p.tok.is("and") {
		return first
	}
	p.count(start)
	terms := appendAnd(nil, first)
	for p.fault == nil && p.tok.is("and") {
		p.advance()
		terms = appendAnd(terms, p.not())
	}
	return &And{Offset: Offset(start.start), Terms: terms}
}

// appendOr and appendAnd take the terms out of an inner node of the same kind, which
// only parentheses had made one: the operators are associative.
func appendOr(terms []Node, n Node) []Node {
	if inner, is := n.(*Or); is {
		return append(terms, inner.Terms...)
	}
	return append(terms, n)
}

func appendAnd(terms []Node, n Node) []Node {
	if inner, is := n.(*And); is {
		return append(terms, inner.Terms...)
	}
	return append(terms, n)
}

// not := "not" not | primary.
func (p *parser) not() Node {
	if p.fault != nil || !p.tok.is("not") {
		return p.primary()
	}
	start := p.tok
	p.advance()
	p.count(start)
	if !p.deeper(start) {
		return nil
	}
	term := p.not()
	p.depth--
	return &Not{Offset: Offset(start.start), Term: term}
}

func (p *parser) primary() Node {
	if p.fault != nil {
		return nil
	}
	start := p.tok
	if !start.sign("(") {
		p.count(start)
		if p.event != nil {
			return p.fieldTest()
		}
		return p.contactTest()
	}
	p.advance()
	if !p.deeper(start) {
		return nil
	}
	inner := p.or()
	p.depth--
	if p.fault == nil && !p.tok.sign(")") {
		line, _ := position(p.source, Offset(start.start))
		p.unexpected(`"and", "or" or the ")" to the "(" of line ` + itoa(line))
	}
	p.advance()
	return inner
}

// deeper opens one level. Who opens it lowers depth again.
func (p *parser) deeper(t token) bool {
	if p.depth++; p.depth >= MaxDepth {
		p.limit(LimitDepth, t.start)
	}
	return p.fault == nil
}

// count takes one more node into account.
func (p *parser) count(t token) {
	if p.nodes++; p.nodes > MaxNodes {
		p.limit(LimitNodes, t.start)
	}
}

func (p *parser) advance() {
	if p.fault == nil {
		p.last = p.tok.end
		p.tok = p.next()
	}
}

// accept passes the word when it stands here.
func (p *parser) accept(word string) bool {
	if p.fault != nil || !p.tok.is(word) {
		return false
	}
	p.advance()
	return true
}

// word passes the keyword, which must stand here.
func (p *parser) word(word string) {
	if p.fault == nil && !p.accept(word) {
		p.unexpected(`"` + word + `"`)
	}
}

// sign passes the sign, which must stand here.
func (p *parser) sign(sign string) {
	if p.fault == nil && !p.tok.sign(sign) {
		p.unexpected(`"` + sign + `"`)
	}
	p.advance()
}

// fail notes a fault at t unless there is one already.
func (p *parser) fail(t token, fault Error) {
	if p.fault == nil {
		fault.Line, fault.Column = position(p.source, Offset(t.start))
		p.fault = &fault
	}
}

func (p *parser) limit(l Limit, at int) {
	p.fail(token{start: at}, Error{Message: limits[l], Limit: l})
}

// unexpected is the fault that tok is none of the words expected, with the nearest of
// the candidates as the suggestion.
func (p *parser) unexpected(expected string, candidates ...string) {
	if p.tok.kind == tokenBad {
		p.fail(p.tok, Error{Message: p.tok.text, Suggestion: p.tok.fix})
		return
	}
	if p.tok.kind == tokenEnd {
		p.fail(p.tok, Error{Message: "the predicate ends too early", Expected: expected})
		return
	}
	if len(candidates) == 0 {
		candidates = wordsOf(expected)
	}
	what := "unexpected "
	if p.tok.kind == tokenString {
		what = "unexpected string "
	}
	fault := Error{Message: what + quoted(strings.Trim(p.source[p.tok.start:p.tok.end], `"`)), Expected: expected}
	if meant := nearest(p.tok.text, candidates); p.tok.kind == tokenWord && meant != p.tok.text {
		fault.Suggestion = meant
	}
	p.fail(p.tok, fault)
}

// misplaced tells where a word belongs that narrows the events of a test, for who writes
// it behind the test.
func (p *parser) misplaced() string {
	if p.tok.is("within") || p.tok.is("where") {
		return "; " + p.tok.text + " stands inside the parentheses, as in count(open within 30d)"
	}
	return ""
}

func quoted(s string) string { return core.Quoted(s) }
