package mailhtml

import (
	"strings"

	tdewolff "github.com/tdewolff/parse/v2"
	"github.com/tdewolff/parse/v2/css"
)

// rule is a rule of a style element: selectors with declarations. At-rules are not rules.
type rule struct {
	// start and end are byte offsets in the source of the template. Only white space is
	// between prior and start.
	prior, start, end int
	// selectors has the selectors that can be applied in advance.
	selectors []*selector
	// stays is true if the rule has further selectors, or cannot be applied in advance.
	stays bool
	// conditional is true if data decides whether the mail has the rule.
	conditional bool
	// fault says what is wrong with the syntax, "" if nothing is.
	fault string
	// declarations has the declarations in the order of the source.
	declarations []declaration
}

// declaration is one declaration of a rule or style attribute.
type declaration struct {
	// property is in lower case, except for custom properties.
	property string
	// value is the value with Handlebars tags, without "!important".
	value     string
	important bool
}

// String returns the declaration as it is written into a style attribute.
func (d declaration) String() string {
	if d.important {
		return d.property + ":" + d.value + " !important"
	}
	return d.property + ":" + d.value
}

// cssToken is a token of CSS. start and end are offsets in the CSS.
type cssToken struct {
	kind       css.TokenType
	start, end int
}

// cssSource is CSS with Handlebars tags.
type cssSource struct {
	// source has the tags. masked has the letter "x" in place of each of their bytes, or
	// spaces in place of block tags and comments.
	source, masked string
	tokens         []cssToken
	// tagged and conditional have the offsets of the ends of all tags, and of all block tags.
	tagged, conditional []int
	depth               []int // the depth of blocks behind each block tag
}

// readCSS divides CSS into tokens.
func readCSS(source string) *cssSource {
	c := &cssSource{source: source}
	c.mask()
	input := tdewolff.NewInputString(c.masked)
	lexer := css.NewLexer(input)
	for at := 0; at < len(source); {
		kind, data := lexer.Next()
		if kind == css.ErrorToken || len(data) == 0 {
			break
		}
		c.tokens = append(c.tokens, cssToken{kind: kind, start: at, end: at + len(data)})
		at += len(data)
	}
	return c
}

// mask sets masked and the offsets of tags.
func (c *cssSource) mask() {
	var b strings.Builder
	tags := tagFinder{source: c.source}
	depth, from := 0, 0
	for i := strings.Index(c.source, "{{"); i >= 0 && i < len(c.source); i++ {
		end := tags.end(i)
		if end == 0 {
			continue
		}
		b.WriteString(c.source[from:i])
		fill := " "
		switch roleOf(c.source[i:end]) {
		case opening:
			depth++
		case closing:
			depth--
		case value:
			fill = "x"
		}
		b.WriteString(strings.Repeat(fill, end-i))
		c.tagged = append(c.tagged, end)
		if role := roleOf(c.source[i:end]); role == opening || role == middle || role == closing {
			c.conditional, c.depth = append(c.conditional, end), append(c.depth, depth)
		}
		from, i = end, end-1
	}
	b.WriteString(c.source[from:])
	// The module uses NUL for the end of its input.
	c.masked = strings.ReplaceAll(b.String(), "\x00", "x")
}

// ruleReader reads the rules of a style element.
type ruleReader struct {
	*cssSource
	base int // the offset of the CSS in the template
	at   int // the index of the next token
	// tag and block are the indexes of the next entries of tagged and conditional.
	tag, block int
	rules      []rule
}

// readRules returns the rules of a style element. base is added to all offsets.
func readRules(source string, base int) []rule {
	r := &ruleReader{cssSource: readCSS(source), base: base}
	prior := 0
	for r.at < len(r.tokens) {
		switch t := r.tokens[r.at]; t.kind {
		case css.WhitespaceToken:
			r.at++
			continue
		case css.CommentToken, css.CDOToken, css.CDCToken:
			r.at++
		case css.AtKeywordToken:
			r.skipAtRule()
		default:
			r.rule(prior)
		}
		prior = r.tokens[r.at-1].end
	}
	return r.rules
}

// skipAtRule skips an at-rule with its block.
func (r *ruleReader) skipAtRule() {
	depth := 0
	for ; r.at < len(r.tokens); r.at++ {
		switch r.tokens[r.at].kind {
		case css.LeftBraceToken:
			depth++
		case css.RightBraceToken:
			if depth--; depth <= 0 {
				r.at++
				return
			}
		case css.SemicolonToken:
			if depth == 0 {
				r.at++
				return
			}
		}
	}
}

// rule reads one rule.
func (r *ruleReader) rule(prior int) {
	first := r.at
	found := rule{prior: r.base + prior, start: r.base + r.tokens[first].start}
	open, end := r.findBody()
	found.end = r.base + r.tokens[r.at-1].end
	preludeEnd := r.tokens[r.at-1].end
	switch {
	case open < 0:
		found.fault = "the rule has no declarations in braces"
	case end < 0:
		found.fault = "the closing brace of the rule is missing"
	default:
		preludeEnd = r.tokens[open].start
		found.declarations, found.fault = r.declarations(open+1, end)
	}
	found.conditional = r.isConditional(found.start-r.base, found.end-r.base)
	found.stays = found.conditional
	tagged := r.hasTag(found.start-r.base, preludeEnd)
	if r.tag > 0 {
		found.prior = max(found.prior, r.base+r.tagged[r.tag-1])
	}
	if tagged {
		found.stays = true
	} else if found.fault == "" {
		r.selectors(&found, first, open)
	}
	if found.fault != "" {
		found.stays, found.selectors = true, nil
	}
	r.rules = append(r.rules, found)
}

// findBody moves behind the rule and returns the indexes of the tokens "{" and "}", or -1.
func (r *ruleReader) findBody() (open, end int) {
	open, depth := -1, 0
	for ; r.at < len(r.tokens); r.at++ {
		switch r.tokens[r.at].kind {
		case css.LeftBraceToken:
			if depth++; open < 0 {
				open = r.at
			}
		case css.RightBraceToken:
			if depth--; depth == 0 {
				r.at++
				return open, r.at - 1
			}
			depth = max(0, depth) // without an opening brace it is a part of the selector
		}
	}
	return open, -1
}

// isConditional reports whether data decides about the CSS from start to end. It is called
// with ascending offsets.
func (r *ruleReader) isConditional(start, end int) bool {
	for r.block < len(r.conditional) && r.conditional[r.block] <= start {
		r.block++
	}
	return r.block > 0 && r.depth[r.block-1] != 0 || r.block < len(r.conditional) && r.conditional[r.block] <= end
}

// hasTag reports whether a Handlebars tag is between start and end. It is called with
// ascending offsets.
func (r *ruleReader) hasTag(start, end int) bool {
	for r.tag < len(r.tagged) && r.tagged[r.tag] <= start {
		r.tag++
	}
	return r.tag < len(r.tagged) && r.tagged[r.tag] <= end
}

// declarations returns the declarations in the tokens from first to before last. The second
// result says what is wrong with the syntax, "" if nothing is.
func (c *cssSource) declarations(first, last int) ([]declaration, string) {
	var found []declaration
	depth, from := 0, first
	for i := first; i <= last; i++ {
		if i < last {
			switch c.tokens[i].kind {
			case css.LeftParenthesisToken, css.FunctionToken, css.LeftBracketToken, css.LeftBraceToken:
				depth++
			case css.RightParenthesisToken, css.RightBracketToken, css.RightBraceToken:
				depth--
			case css.BadStringToken, css.BadURLToken:
				return nil, "a string or url() is not closed"
			}
			if depth < 0 || c.tokens[i].kind != css.SemicolonToken || depth > 0 {
				continue
			}
		}
		d, fault := c.declaration(c.trim(from, i))
		if fault != "" {
			return nil, fault
		}
		if d.property != "" {
			found = append(found, d)
		}
		from = i + 1
	}
	if depth != 0 {
		return nil, "a bracket has no counterpart"
	}
	return found, ""
}

// blank reports whether a token is white space or a comment.
func (t cssToken) blank() bool {
	return t.kind == css.WhitespaceToken || t.kind == css.CommentToken
}

// trim returns the tokens from first to before last without blank ones at both ends.
func (c *cssSource) trim(first, last int) []cssToken {
	for first < last && c.tokens[first].blank() {
		first++
	}
	for first < last && c.tokens[last-1].blank() {
		last--
	}
	return c.tokens[first:last]
}

// declaration returns the declaration in trimmed tokens. It is empty if there are none. The
// second result says what is wrong.
func (c *cssSource) declaration(tokens []cssToken) (declaration, string) {
	if len(tokens) == 0 {
		return declaration{}, ""
	}
	colon := 0
	for colon < len(tokens) && tokens[colon].kind != css.ColonToken {
		colon++
	}
	whole := c.source[tokens[0].start:tokens[len(tokens)-1].end]
	if colon == len(tokens) || colon == 0 {
		return declaration{}, "a property, a colon or a value is missing in " + quoted(whole)
	}
	property := strings.TrimSpace(c.source[tokens[0].start:tokens[colon].start])
	if strings.ContainsAny(property, " \t\r\n\f{}()[]'\"&<>=/;") {
		return declaration{}, "there is no property " + quoted(property)
	}
	if !strings.HasPrefix(property, "--") {
		property = lowerASCII(property)
	}
	value := tokens[colon+1:]
	value, important := cutImportant(c, value)
	for len(value) > 0 && value[0].blank() {
		value = value[1:]
	}
	for len(value) > 0 && value[len(value)-1].blank() {
		value = value[:len(value)-1]
	}
	if len(value) == 0 {
		return declaration{}, "the property " + quoted(property) + " has no value"
	}
	for _, t := range value {
		if t.kind == css.LeftBraceToken || t.kind == css.DelimToken && c.masked[t.start] == '!' {
			return declaration{}, "the value of " + quoted(property) + " has a brace or a \"!\""
		}
	}
	return declaration{property: property, value: c.source[value[0].start:value[len(value)-1].end], important: important}, ""
}

// cutImportant removes "!important" from the end of the value's tokens.
func cutImportant(c *cssSource, value []cssToken) ([]cssToken, bool) {
	n := len(value)
	if n < 2 || value[n-1].kind != css.IdentToken || !strings.EqualFold(c.masked[value[n-1].start:value[n-1].end], "important") {
		return value, false
	}
	i := n - 2
	for i > 0 && value[i].blank() {
		i--
	}
	if value[i].kind != css.DelimToken || c.masked[value[i].start] != '!' {
		return value, false
	}
	return value[:i], true
}

// quoted returns the beginning of a text in quotation marks, for messages.
func quoted(s string) string {
	const longest = 60
	s = strings.Join(strings.Fields(s), " ")
	if runes := []rune(s); len(runes) > longest {
		s = string(runes[:longest]) + "…"
	}
	return `"` + s + `"`
}
