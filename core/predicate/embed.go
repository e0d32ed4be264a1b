package predicate

import "slices"

// The functions of this file are for languages that contain predicates, such as that of
// workflows. They read a part of a longer source. All offsets count from the beginning of
// that source, and so do the positions of faults.

// TokenKind is the kind of a [Token].
type TokenKind uint8

// The kinds of tokens, each with an example.
const (
	EndToken       TokenKind = iota // the end of the source
	WordToken                       // send
	AttributeToken                  // attr.plan
	ActivityToken                   // activity.purchase
	StringToken                     // "welcome"
	NumberToken                     // 12.5
	DateToken                       // 2026-01-31
	SymbolToken                     // {
	// OtherToken is a token that only predicates use, such as the duration 30d.
	OtherToken
	// BadToken is text that is no token.
	BadToken
)

// Token is one word, name, literal or symbol of a source.
type Token struct {
	Kind TokenKind
	// Start and End are the byte offsets of the token.
	Start, End int
	// Text is the content of the token: the word, the name after the prefix, the text of the
	// string, or the symbol. For a BadToken it is the message of the fault.
	Text string
	// Fix is the likely correction of a BadToken, "" if there is none.
	Fix string
	// Number is set for a NumberToken.
	Number float64
	// Micros is set for a DateToken: microseconds since 1970.
	Micros int64
}

// Is reports whether the token is the given word.
func (t Token) Is(word string) bool { return t.Kind == WordToken && t.Text == word }

// Sign reports whether the token is the given symbol.
func (t Token) Sign(symbol string) bool { return t.Kind == SymbolToken && t.Text == symbol }

// outerSymbols has the symbols of languages that contain predicates, beside those of
// predicates.
const outerSymbols = "{}:%"

var tokenKinds = map[tokenKind]TokenKind{
	tokenEnd: EndToken, tokenWord: WordToken, tokenAttribute: AttributeToken, tokenActivity: ActivityToken,
	tokenString: StringToken, tokenNumber: NumberToken, tokenDate: DateToken, tokenSymbol: SymbolToken, tokenBad: BadToken,
}

// TokenAt returns the first token of source at or after the offset at. The symbols are those
// of predicates, and { } : and %.
func TokenAt(source string, at int) Token {
	l := lexer{source: source, at: at, symbols: outerSymbols}
	t := l.next()
	kind, known := tokenKinds[t.kind]
	if !known {
		kind = OtherToken
	}
	return Token{Kind: kind, Start: t.start, End: t.end, Text: t.text, Fix: t.fix, Number: t.number, Micros: t.micros}
}

// ParseAt parses the longest predicate that begins at the offset at. end is the offset of
// the first byte after it. The source must be valid UTF-8. The limits hold for this predicate.
func ParseAt(source string, at int) (tree *Tree, end int, fault *Error) {
	p := embeddedParser(source, at)
	root := p.parseOr()
	if p.fault == nil && p.tok.kind == tokenBad {
		p.failExpecting("")
	}
	return p.embedded(root)
}

// ParseAssignmentAt parses "attr.<name> = <value>" at the offset at, as [ParseAt] parses a
// predicate. The root of the tree is a [*Compare] with the operator Equal.
func ParseAssignmentAt(source string, at int) (tree *Tree, end int, fault *Error) {
	p := embeddedParser(source, at)
	test := &Compare{Offset: Offset(p.tok.start), Op: Equal} // before field, which reads the token
	test.Field = p.field()
	p.sign("=")
	test.ValueAt = Offset(p.tok.start)
	test.Value = p.value(true)
	return p.embedded(test)
}

func embeddedParser(source string, at int) *parser {
	p := &parser{lexer: lexer{source: source, at: at, symbols: outerSymbols}, last: at}
	p.tok = p.next()
	return p
}

func (p *parser) embedded(root Node) (*Tree, int, *Error) {
	if p.fault != nil {
		return nil, p.tok.start, p.fault.dropLongSuggestion()
	}
	return &Tree{Root: root, text: p.source}, p.last, nil
}

// NewError returns a fault at an offset of source.
func NewError(source string, at int, fault Error) *Error {
	fault.Line, fault.Column = position(source, Offset(at))
	return fault.dropLongSuggestion()
}

// MessageEvents returns the names of the events of mail, such as "delivery".
func MessageEvents() []string { return slices.Clone(eventWords[:ActivityEvent]) }

// MessageEvent returns the event of mail with this name. ok is false if there is none.
func MessageEvent(name string) (event Event, ok bool) {
	kind := eventKind(name)
	return Event{Kind: kind}, kind < ActivityEvent
}

// String returns the event as it is written in predicates: click or activity.purchase.
func (e Event) String() string { return e.title() }

// StringLiteral returns s as a string of the language, in double quotes.
func StringLiteral(s string) string { return `"` + escapes.Replace(s) + `"` }
