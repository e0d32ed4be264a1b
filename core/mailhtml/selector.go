package mailhtml

import (
	"slices"
	"strings"

	"github.com/andybalholm/cascadia"
	"github.com/tdewolff/parse/v2/css"
)

// maxSelector is the maximum length of a selector in bytes. Rules with a longer one stay in
// their style element.
const maxSelector = 500

// selector is a selector that can be applied before the mail is sent.
type selector struct {
	parts       []compound // from left to right
	specificity cascadia.Specificity
	// above has names that ancestors of each matching element have.
	above nameFilter
}

// compound is a part of a selector between combinators, such as td.price:first-child.
type compound struct {
	// combinator stands before the part: ' ', '>', '+', '~', or 0 for the first part.
	combinator byte
	// full matches the part, plain the part without pseudo-classes about the position among
	// siblings. plain is nil if it matches every element.
	full, plain cascadia.Sel
	// positional is true if full and plain differ.
	positional bool
	// named is true if the part has a class, an id or an attribute. negated is true if it
	// has :not().
	named, negated bool
	// tag, class and id are names that each matching element has, "" if there are none.
	tag, class, id string
}

// positionals has the pseudo-classes about the position among siblings.
var positionals = setOf("first-child last-child only-child first-of-type last-of-type only-of-type nth-child nth-last-child nth-of-type nth-last-of-type")

// selectors reads the selectors in the tokens from first to before last into a rule.
func (c *cssSource) selectors(into *rule, first, last int) {
	from, depth := first, 0
	for i := first; i <= last; i++ {
		if i < last {
			depth += nesting(c.tokens[i].kind)
			if c.tokens[i].kind != css.CommaToken || depth != 0 {
				continue
			}
		}
		s, fault := c.selector(c.trim(from, i))
		switch {
		case fault != "":
			into.fault = fault
			return
		case s == nil:
			into.stays = true
		default:
			into.selectors = append(into.selectors, s)
		}
		from = i + 1
	}
}

// nesting returns by how much a token changes the depth of brackets.
func nesting(kind css.TokenType) int {
	switch kind {
	case css.LeftParenthesisToken, css.FunctionToken, css.LeftBracketToken:
		return 1
	case css.RightParenthesisToken, css.RightBracketToken:
		return -1
	}
	return 0
}

// selector returns the selector in trimmed tokens, nil if it cannot be applied in advance.
// The second result says what is wrong, "" if the syntax is right.
func (c *cssSource) selector(tokens []cssToken) (*selector, string) {
	if len(tokens) == 0 {
		return nil, "a selector is missing"
	}
	text := c.source[tokens[0].start:tokens[len(tokens)-1].end]
	s, ok := &selector{}, len(text) <= maxSelector
	for combinator := byte(0); ok && len(tokens) > 0; {
		n := partLength(c, tokens)
		if n == 0 || slices.ContainsFunc(tokens[:n], c.isForeign) {
			return nil, quoted(text) + " is not a selector"
		}
		var part compound
		if part, ok = c.compound(tokens[:n]); ok {
			part.combinator = combinator
			s.parts = append(s.parts, part)
			s.specificity = s.specificity.Add(part.full.Specificity())
			if tokens, combinator = c.combinator(tokens[n:]); combinator != 0 && len(tokens) == 0 {
				return nil, "the selector " + quoted(text) + " ends with a combinator"
			}
		}
	}
	if !ok {
		return nil, ""
	}
	s.setAbove()
	return s, ""
}

// isForeign reports whether no selector has the token.
func (c *cssSource) isForeign(t cssToken) bool {
	switch t.kind {
	case css.RightBraceToken, css.SemicolonToken, css.BadStringToken, css.BadURLToken, css.AtKeywordToken, css.CDOToken,
		css.CDCToken, css.URLToken:
		return true
	case css.DelimToken:
		return strings.IndexByte("!@$%^;<", c.masked[t.start]) >= 0
	}
	return false
}

// setAbove sets above. Parts before a sibling combinator are left out.
func (s *selector) setAbove() {
	for i, part := range s.parts[:len(s.parts)-1] {
		if next := s.parts[i+1].combinator; next == ' ' || next == '>' {
			s.above |= filterOf(part.tag) | filterOf(part.class) | filterOf(part.id)
		}
	}
}

// partLength returns the number of tokens before the first combinator.
func partLength(c *cssSource, tokens []cssToken) int {
	depth := 0
	for i, t := range tokens {
		depth += nesting(t.kind)
		if depth == 0 && (t.blank() || c.sign(t) != 0) {
			return i
		}
	}
	return len(tokens)
}

// sign returns the combinator in a token, or 0.
func (c *cssSource) sign(t cssToken) byte {
	if b := c.masked[t.start]; t.kind == css.DelimToken && (b == '>' || b == '+' || b == '~') {
		return b
	}
	return 0
}

// combinator returns what follows a combinator, and the combinator.
func (c *cssSource) combinator(tokens []cssToken) ([]cssToken, byte) {
	if len(tokens) == 0 {
		return nil, 0
	}
	found := byte(' ')
	for len(tokens) > 0 && (tokens[0].blank() || found == ' ' && c.sign(tokens[0]) != 0) {
		if sign := c.sign(tokens[0]); sign != 0 {
			found = sign
		}
		tokens = tokens[1:]
	}
	return tokens, found
}

// compound returns the part of a selector in the tokens. It returns false if the part
// depends on what a reader does, or is not known.
func (c *cssSource) compound(tokens []cssToken) (compound, bool) {
	var part compound
	var full, plain strings.Builder
	for i := 0; i < len(tokens); {
		n, positional := c.simple(&part, tokens[i:])
		if n == 0 {
			return part, false
		}
		text := c.source[tokens[i].start:tokens[i+n-1].end]
		full.WriteString(text)
		if part.positional = part.positional || positional; !positional {
			plain.WriteString(text)
		}
		i += n
	}
	var err error
	if part.full, err = cascadia.Parse(full.String()); err != nil {
		return part, false
	}
	if plain.Len() > 0 && plain.String() != "*" {
		part.plain, err = cascadia.Parse(plain.String())
	}
	return part, err == nil
}

// simple notes one simple selector in part. It returns the number of its tokens, 0 if it
// cannot be applied in advance, and whether it is about the position among siblings.
func (c *cssSource) simple(part *compound, tokens []cssToken) (n int, positional bool) {
	word := c.masked[tokens[0].start:tokens[0].end]
	switch tokens[0].kind {
	case css.IdentToken:
		part.tag = plainName(lowerASCII(word))
		return 1, false
	case css.HashToken:
		part.named, part.id = true, plainName(word[1:])
		return 1, false
	case css.LeftBracketToken:
		part.named = true
		return c.attributeLength(tokens), false
	case css.ColonToken:
		return c.pseudoClass(part, tokens)
	case css.DelimToken:
		if word == "*" {
			return 1, false
		}
		if word == "." && len(tokens) > 1 && tokens[1].kind == css.IdentToken {
			part.named, part.class = true, plainName(c.masked[tokens[1].start:tokens[1].end])
			return 2, false
		}
	}
	return 0, false
}

// plainName returns a name without escapes, and "" for one with escapes.
func plainName(name string) string {
	if strings.Contains(name, `\`) {
		return ""
	}
	return name
}

// attributeLength returns the number of tokens of an attribute selector, or 0. Selectors
// about style attributes cannot be applied in advance, because applying rules changes them.
func (c *cssSource) attributeLength(tokens []cssToken) int {
	for i, t := range tokens[1:] {
		switch t.kind {
		case css.RightBracketToken:
			return i + 2
		case css.IdentToken:
			if i == 0 && lowerASCII(c.masked[t.start:t.end]) == "style" {
				return 0
			}
		case css.StringToken, css.WhitespaceToken, css.IncludeMatchToken, css.DashMatchToken, css.PrefixMatchToken,
			css.SuffixMatchToken, css.SubstringMatchToken:
		case css.DelimToken:
			if c.masked[t.start] != '=' {
				return 0
			}
		default:
			return 0
		}
		if i == 0 && t.kind != css.IdentToken {
			return 0
		}
	}
	return 0
}

// pseudoClass is simple for a pseudo-class.
func (c *cssSource) pseudoClass(part *compound, tokens []cssToken) (n int, positional bool) {
	if len(tokens) < 2 {
		return 0, false
	}
	name := lowerASCII(strings.TrimSuffix(c.masked[tokens[1].start:tokens[1].end], "("))
	if tokens[1].kind == css.IdentToken {
		if positionals[name] {
			return 2, true
		}
		return 0, false
	}
	length := 0
	for i, t := range tokens[2:] {
		if t.kind == css.RightParenthesisToken {
			length = i + 3
			break
		}
	}
	if tokens[1].kind != css.FunctionToken || length <= 3 {
		return 0, false
	}
	if name == "not" {
		part.negated = true
		var inner compound
		inside := tokens[2 : length-1]
		if m, about := c.simple(&inner, inside); m != len(inside) || about || inner.negated {
			return 0, false
		}
		return length, false
	}
	if positionals[name] {
		return length, true
	}
	return 0, false
}
