package language

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/predicate"
)

// Parse parses the source of a workflow. It fails with [predicate.Errors], which has the
// faults in the order of the source, at most [predicate.MaxFaults]. It is safe for untrusted
// text: it does not panic, and the memory it uses is limited by [MaxSource].
func Parse(source string) (*Tree, error) {
	p := &parser{source: source}
	switch {
	case len(source) > MaxSource:
		return nil, predicate.Errors{predicate.NewError(source, 0, predicate.Error{Message: limits[LimitSource], Limit: LimitSource})}
	case !utf8.ValidString(source):
		at := strings.IndexFunc(source, func(r rune) bool { return r == utf8.RuneError })
		return nil, predicate.Errors{predicate.NewError(source, at, predicate.Error{Message: "the text is not valid UTF-8"})}
	}
	p.tok = predicate.TokenAt(source, 0)
	tree := &Tree{source: source, start: Offset(p.tok.Start)}
	p.workflow(tree)
	if len(p.faults) > 0 {
		return nil, p.faults
	}
	return tree, nil
}

// parser is a recursive descent parser with one token of lookahead. After a fault, failed is
// true and its methods do nothing until recover has found the next statement. It has many
// methods because each rule of the grammar has one, and all of them read the next token and
// record faults.
type parser struct {
	source string
	tok    predicate.Token
	// failed is true from a fault to the next statement.
	failed bool
	faults predicate.Errors
	// fault is the last fault.
	fault *predicate.Error
	// steps is the number of steps so far, depth the number of blocks around the current token.
	steps, depth int
	// seen has the settings that the source already has.
	seen map[string]bool
}

// workflow parses: "workflow" STRING "v1" "{" { setting } { step } "}".
func (p *parser) workflow(tree *Tree) {
	p.word("workflow")
	tree.Name = p.name(`the "name" of the workflow`)
	p.version()
	if !p.tok.Sign("{") {
		p.failExpecting(`"{"`)
		p.skipTo(func(t predicate.Token) bool { return t.Sign("{") })
		if p.tok.Kind == predicate.EndToken {
			return
		}
	}
	p.failed = false
	open := p.tok
	p.advance()
	tree.Body = p.block(open, &tree.Settings)
	if p.tok.Kind != predicate.EndToken && !p.full() {
		p.failed = false
		p.failExpecting("the end after the closing }")
	}
	if len(p.faults) == 0 {
		p.checkComplete(tree, open)
	}
}

// version parses "v1".
func (p *parser) version() {
	const current = "v1"
	if p.failed || p.tok.Is(current) {
		p.advance()
		return
	}
	t := p.tok
	if t.Kind == predicate.WordToken && len(t.Text) > 1 && t.Text[0] == 'v' && strings.Trim(t.Text[1:], "0123456789") == "" {
		p.fail(t, predicate.Error{Message: "version " + core.Quote(t.Text) + " of the language does not exist", Suggestion: current})
		return
	}
	p.failExpecting(`"` + current + `", the version of the language`)
}

// checkComplete records what a workflow without other faults lacks: a trigger or a step.
func (p *parser) checkComplete(tree *Tree, open predicate.Token) {
	if tree.Settings.Trigger.Kind == 0 {
		p.fail(open, predicate.Error{Message: "the workflow has no trigger", Expected: `"enter on", such as enter on segment "new-customers"`})
	}
	p.failed = false
	if len(tree.Body.Steps) == 0 {
		p.fail(open, predicate.Error{Message: "the workflow has no step", Expected: `a step, such as send "welcome"`})
	}
}

// block parses the statements of a block up to its "}". open is the "{" before them. Settings
// are allowed if settings is not nil, and then only before the first step.
func (p *parser) block(open predicate.Token, settings *Settings) Block {
	p.depth++
	defer func() { p.depth-- }()
	if p.depth > MaxDepth {
		p.limit(LimitDepth, open)
		p.skipBlock()
		return Block{}
	}
	var b Block
	for !p.full() {
		p.failed = false
		start := p.tok
		switch {
		case p.tok.Sign("}"):
			b.End = Offset(p.tok.Start)
			p.advance()
			return b
		case p.tok.Kind == predicate.EndToken:
			line := predicate.NewError(p.source, open.Start, predicate.Error{}).Line
			p.fail(p.tok, predicate.Error{Message: "the workflow ends too early", Expected: `the "}" to the "{" of line ` + itoa(line)})
			return b
		case p.startsSetting():
			p.setting(settings, len(b.Steps) > 0)
		default:
			if step := p.step(); step != nil {
				b.Steps = append(b.Steps, step)
			}
		}
		if p.failed {
			p.recover(start)
		}
	}
	return b
}

// recover skips the rest of a faulty statement, which begins with start. It stops at a "}",
// which closes the block, and where startsStatement returns true. It reads the blocks of the
// faulty statement, so that their faults are reported too.
func (p *parser) recover(start predicate.Token) {
	for !p.full() {
		p.failed = false
		t := p.tok
		switch {
		case t.Kind == predicate.EndToken, t.Sign("}"), t.Start != start.Start && p.startsStatement():
			return
		case t.Sign("{"):
			p.advance()
			p.block(t, nil)
		default:
			p.advance()
		}
	}
}

// startsLine reports whether only blanks are before the token on its line.
func (p *parser) startsLine(t predicate.Token) bool {
	line := strings.TrimRight(p.source[:t.Start], " \t\r")
	return line == "" || line[len(line)-1] == '\n'
}

// continuations has the words that continue a statement on the next line.
var continuations = []string{"and", "or", "not", "else", "until", "when", "where", "timeout", "via", "transactional"}

// startsStatement reports whether the current token is probably the first of a statement: a
// word at the beginning of a line that does not continue the statement before it. The word
// may be misspelled.
func (p *parser) startsStatement() bool {
	return p.tok.Kind == predicate.WordToken && p.startsLine(p.tok) && !slices.Contains(continuations, p.tok.Text)
}

// closeBlock reads up to the "}" of a block after a fault in it, and reports the faults of the
// blocks in it.
func (p *parser) closeBlock() {
	for !p.full() && p.tok.Kind != predicate.EndToken {
		p.failed = false
		t := p.tok
		p.advance()
		switch {
		case t.Sign("}"):
			return
		case t.Sign("{"):
			p.block(t, nil)
		}
	}
}

// skipBlock skips the rest of a block with the blocks in it.
func (p *parser) skipBlock() {
	p.failed = false
	for open := 1; open > 0 && p.tok.Kind != predicate.EndToken; p.advance() {
		switch {
		case p.tok.Sign("{"):
			open++
		case p.tok.Sign("}"):
			open--
		}
	}
}

func (p *parser) skipTo(end func(predicate.Token) bool) {
	p.failed = false
	for p.tok.Kind != predicate.EndToken && !end(p.tok) {
		p.advance()
	}
}

// full reports whether there are so many faults that further ones are not reported.
func (p *parser) full() bool { return len(p.faults) >= predicate.MaxFaults }

func (p *parser) advance() {
	if !p.failed {
		p.tok = predicate.TokenAt(p.source, p.tok.End)
	}
}

// peek returns the token after the current one.
func (p *parser) peek() predicate.Token { return predicate.TokenAt(p.source, p.tok.End) }

// accept consumes the current token if it is the given word, and reports whether it was.
func (p *parser) accept(word string) bool {
	if p.failed || !p.tok.Is(word) {
		return false
	}
	p.advance()
	return true
}

// word consumes the current token, which must be one of the given keywords, and returns it.
func (p *parser) word(words ...string) string {
	for _, word := range words {
		if p.accept(word) {
			return word
		}
	}
	p.failExpecting(quotedWords(words), words...)
	return ""
}

// sign consumes the current token, which must be the given symbol.
func (p *parser) sign(symbol string) {
	if !p.failed && !p.tok.Sign(symbol) {
		p.failExpecting(`"` + symbol + `"`)
	}
	p.advance()
}

// fail records a fault at the token t. It does nothing if the statement already has one.
func (p *parser) fail(t predicate.Token, fault predicate.Error) {
	if !p.failed {
		p.add(predicate.NewError(p.source, t.Start, fault))
	}
}

// add records a fault, unless the statement already has one.
func (p *parser) add(fault *predicate.Error) {
	if p.failed {
		return
	}
	if p.failed, p.fault = true, fault; !p.full() {
		p.faults = append(p.faults, fault)
	}
}

// suggest adds a suggestion to the last fault, unless it has one.
func (p *parser) suggest(text string) {
	if p.fault != nil && p.fault.Suggestion == "" {
		p.fault.Suggestion = text
	}
}

func (p *parser) limit(l predicate.Limit, at predicate.Token) {
	p.fail(at, predicate.Error{Message: limits[l], Limit: l})
}

// failExpecting records the fault that the current token is not allowed at its position.
// expected describes the allowed tokens. For a misspelled word, the fault suggests the most
// similar candidate.
func (p *parser) failExpecting(expected string, candidates ...string) {
	t := p.tok
	fault := predicate.Error{Expected: expected}
	switch {
	case t.Kind == predicate.BadToken:
		fault = predicate.Error{Message: t.Text, Suggestion: t.Fix}
	case t.Kind == predicate.EndToken:
		fault.Message = "the workflow ends too early"
	default:
		fault.Message = "unexpected " + core.Quote(strings.Trim(p.source[t.Start:t.End], `"`))
		if t.Kind == predicate.StringToken {
			fault.Message = "unexpected string " + core.Quote(t.Text)
		}
		if meant := core.NearestWord(t.Text, candidates); t.Kind == predicate.WordToken && meant != t.Text {
			fault.Suggestion = meant
		}
	}
	p.fail(t, fault)
}
