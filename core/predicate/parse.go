package predicate

import (
	"strings"
	"unicode/utf8"

	"github.com/mailhelm/mailhelm/core"
)

// parser is a recursive descent parser with one token of lookahead. It has one method for
// each rule of the grammar, and methods for steps that rules share. After the first fault
// every method returns at once, and its result is not used.
type parser struct {
	lexer
	tok                              token
	last                             int // offset of the end of the token before the current one, tok
	fault                            *Error
	nodes, depth, events, membership int
	// event is the event whose where-condition is being parsed; nil outside of where.
	event *Event
}

func newParser(source string) *parser {
	p := &parser{lexer: lexer{source: source}}
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

// predicate parses a whole predicate. It returns nil if the predicate is empty or a fault
// was recorded before.
func (p *parser) predicate() Node {
	if p.fault != nil {
		return nil
	}
	if p.tok.kind == tokenEnd {
		p.fail(p.tok, Error{Message: "the predicate is empty", Expected: testHint})
		return nil
	}
	return p.parseOr()
}

// parseOr parses the grammar rule: and { "or" and }. The nonterminal "and" is parsed by
// parseAnd.
func (p *parser) parseOr() Node {
	start := p.tok
	first := p.parseAnd()
	if p.fault != nil || !p.tok.is("or") {
		return first
	}
	p.count(start)
	terms := appendOr(nil, first)
	for p.fault == nil && p.tok.is("or") {
		p.advance()
		terms = appendOr(terms, p.parseAnd())
	}
	return &Or{Offset: Offset(start.start), Terms: terms}
}

// parseAnd parses the grammar rule: not { "and" not }.
func (p *parser) parseAnd() Node {
	start := p.tok
	first := p.parseNot()
	if p.fault != nil || !p.tok.is("and") {
		return first
	}
	p.count(start)
	terms := appendAnd(nil, first)
	for p.fault == nil && p.tok.is("and") {
		p.advance()
		terms = appendAnd(terms, p.parseNot())
	}
	return &And{Offset: Offset(start.start), Terms: terms}
}

// appendOr appends the node n to the terms of an "or". If n is itself an "or" in
// parentheses, it appends the terms of n instead. The predicate keeps its meaning, because
// "or" is associative. appendAnd does the same for "and".
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

// parseNot parses the grammar rule: "not" not | primary.
func (p *parser) parseNot() Node {
	if p.fault != nil || !p.tok.is("not") {
		return p.primary()
	}
	start := p.tok
	p.advance()
	p.count(start)
	if !p.enterLevel(start) {
		return nil
	}
	term := p.parseNot()
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
	if !p.enterLevel(start) {
		return nil
	}
	inner := p.parseOr()
	p.depth--
	if p.fault == nil && !p.tok.sign(")") {
		line, _ := position(p.source, Offset(start.start))
		p.failExpecting(`"and", "or" or the ")" to the "(" of line ` + itoa(line))
	}
	p.advance()
	return inner
}

// enterLevel increases the nesting depth and records a fault at t if it exceeds the limit.
// It returns false if there is a fault. The caller must decrease depth afterwards.
func (p *parser) enterLevel(t token) bool {
	if p.depth++; p.depth >= MaxDepth {
		p.limit(LimitDepth, t.start)
	}
	return p.fault == nil
}

// count counts one more node.
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

// accept consumes the current token if it is the given word, and reports whether it was.
func (p *parser) accept(word string) bool {
	if p.fault != nil || !p.tok.is(word) {
		return false
	}
	p.advance()
	return true
}

// word consumes the current token, which must be the given keyword. If it is another token,
// word records a fault.
func (p *parser) word(word string) {
	if p.fault == nil && !p.accept(word) {
		p.failExpecting(`"` + word + `"`)
	}
}

// sign consumes the current token, which must be the given symbol. Otherwise it records a
// fault.
func (p *parser) sign(sign string) {
	if p.fault == nil && !p.tok.sign(sign) {
		p.failExpecting(`"` + sign + `"`)
	}
	p.advance()
}

// fail records a fault at the token t. It does nothing if a fault was recorded before.
func (p *parser) fail(t token, fault Error) {
	if p.fault == nil {
		fault.Line, fault.Column = position(p.source, Offset(t.start))
		p.fault = &fault
	}
}

func (p *parser) limit(l Limit, at int) {
	p.fail(token{start: at}, Error{Message: limits[l], Limit: l})
}

// failExpecting records the fault that the current token is not allowed at its position.
// expected describes the allowed tokens. For a misspelled word, the fault suggests the most
// similar candidate. Without candidates, the keywords that occur in expected are the
// candidates.
func (p *parser) failExpecting(expected string, candidates ...string) {
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
	fault := Error{Message: what + quote(strings.Trim(p.source[p.tok.start:p.tok.end], `"`)), Expected: expected}
	if meant := core.NearestWord(p.tok.text, candidates); p.tok.kind == tokenWord && meant != p.tok.text {
		fault.Suggestion = meant
	}
	p.fail(p.tok, fault)
}

// misplacedHint returns a hint if the current token is "within" or "where" after an event
// test: these words belong inside of its parentheses. Otherwise it returns "".
func (p *parser) misplacedHint() string {
	if p.tok.is("within") || p.tok.is("where") {
		return "; " + p.tok.text + " belongs inside the parentheses, as in count(open within 30d)"
	}
	return ""
}

func quote(s string) string { return core.Quote(s) }
