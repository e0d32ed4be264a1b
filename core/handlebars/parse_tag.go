package handlebars

import (
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/core"
)

// blockNames are the blocks of the language, in alphabetical order.
var blockNames = []string{"each", "if", "unless", "with"}

// helperNames are names that have a meaning of their own in Handlebars and are therefore
// never variables, unless they are written this.name.
var helperNames = []string{"asset", "each", "if", "log", "lookup", "unless", "with"}

const assetHelper = "asset"

// tag is the tag that is being parsed.
type tag struct {
	*parser
	start int // offset of the braces
	lexer tagLexer
	strip strip
	raw   bool
	// nests is true for a tag that belongs to a block, even if it is malformed.
	nests bool
}

// take skips a sign at the current position. It reports whether the sign was there.
func (t *tag) take(sign string) bool {
	if strings.HasPrefix(t.source[t.lexer.at:], sign) {
		t.lexer.at += len(sign)
		return true
	}
	return false
}

// arguments reads the tokens up to the end of the tag. After a fault it returns false, and
// the parser is at the next tag.
func (t *tag) arguments() ([]token, bool) {
	var arguments []token
	for {
		next := t.lexer.next()
		switch next.kind {
		case tokenClose:
			t.strip.close = next.strip
			t.at = next.end
			return arguments, true
		case tokenSign:
			t.badSign(next, arguments)
			return nil, false
		case tokenBraces:
			t.fail(next.at, CodeSyntax, "the tag is closed by more braces than it begins with; expected %s, and a space before a brace that is text", quote(t.close()))
			t.at = next.at + len(t.close())
			return nil, false
		case tokenOpen, tokenEnd:
			t.fail(t.start, CodeSyntax, "the tag is not closed; expected %s", quote(t.close()))
			t.at = next.at
			return nil, false
		default:
			arguments = append(arguments, next)
		}
	}
}

func (t *tag) close() string {
	if t.lexer.triple {
		return "}}}"
	}
	return "}}"
}

// badSign reports a character that cannot be in a tag, by the construct of Handlebars that
// it belongs to.
func (t *tag) badSign(sign token, before []token) {
	last := ""
	if len(before) > 0 {
		last = before[len(before)-1].text
	}
	switch {
	case sign.text == "(" || sign.text == ")":
		t.fail(sign.at, CodeUnsupported, "templates cannot use subexpressions, which are written in parentheses")
	case sign.text == "=":
		t.fail(sign.at, CodeUnsupported, "templates cannot use hash arguments, which are written name=value")
	case sign.text == "|" && last == "as":
		t.fail(sign.at, CodeUnsupported, "templates cannot use block parameters, which are written as |name|; use this and ../")
	default:
		t.fail(sign.at, CodeSyntax, "%s is not allowed in a tag; expected a name or %s", quote(sign.text), quote(t.close()))
	}
	t.at = t.start
	t.skipTo(t.close())
}

// fail records a fault. Without a tag of a block, the nesting is not known.
func (t *tag) fail(at int, code, format string, args ...any) {
	t.broken = t.broken || t.nests
	t.faults.add(at, code, format, args...)
}

// isElse reports whether the tag begins with "else".
func (t *tag) isElse() bool {
	inside := strings.TrimLeftFunc(t.source[t.lexer.at:], isSpace)
	return strings.HasPrefix(inside, "else") && nameLength(inside) == len("else")
}

// unsupported records a construct that the language lacks, and skips the tag.
func (t *tag) unsupported(what string) {
	t.parser.unsupported(t.start, what)
	t.at = t.start
	t.skipTo("}}")
}

// value parses {{x}}, {{{x}}}, {{&x}}, {{asset "path"}} and {{else}}.
func (t *tag) value() {
	t.nests = !t.raw && t.isElse()
	arguments, ok := t.arguments()
	if !ok {
		return
	}
	switch {
	case len(arguments) == 0:
		t.fail(t.start, CodeSyntax, "the tag is empty; expected a name")
	case !t.raw && arguments[0].kind == tokenPath && arguments[0].text == "else":
		t.otherwise(arguments[1:])
	case arguments[0].text == assetHelper && arguments[0].kind == tokenPath:
		t.asset(arguments)
	case len(arguments) > 1 && arguments[0].kind == tokenPath:
		t.unknownHelper(arguments[0])
	default:
		if t.isHelper(arguments[0]) {
			return
		}
		if found, ok := t.path(arguments[0]); ok {
			t.add(&node{kind: nodeValue, at: t.start, strip: t.strip, raw: t.raw, path: found})
		}
	}
}

// isHelper reports whether a value has the name of a helper, which is a fault.
func (t *tag) isHelper(name token) bool {
	if name.kind != tokenPath || !slices.Contains(helperNames, name.text) {
		return false
	}
	if slices.Contains(blockNames, name.text) {
		t.fail(name.at, CodeUnknownHelper, "%s is a block: write %s, or %s for a variable of this name",
			quote(name.text), quote("{{#"+name.text+" ...}}"), quote("{{this."+name.text+"}}"))
	} else {
		t.fail(name.at, CodeUnknownHelper, "templates cannot use the helper %s; write %s for a variable of this name",
			quote(name.text), quote("{{this."+name.text+"}}"))
	}
	return true
}

// unknownHelper reports a tag with arguments, such as {{upper name}}.
func (t *tag) unknownHelper(name token) {
	if slices.Contains(blockNames, name.text) {
		t.isHelper(name)
		return
	}
	message := "there is no helper %s; a value is one name, such as `{{name}}`"
	if near := core.NearestWord(name.text, append([]string{assetHelper}, blockNames...)); near != "" {
		message += "; did you mean " + near + "?"
	}
	t.fail(name.at, CodeUnknownHelper, message, quote(name.text))
}

func (t *tag) asset(arguments []token) {
	if len(arguments) != 2 || arguments[1].kind != tokenString || arguments[1].text == "" {
		t.fail(t.start, CodeSyntax, "the helper `asset` takes one path in quotes: `{{asset \"logo.png\"}}`; write `{{this.asset}}` for a variable of this name")
		return
	}
	t.add(&node{kind: nodeAsset, at: t.start, strip: t.strip, raw: t.raw, name: arguments[1].text, text: t.source[t.start:t.at]})
}

// partial parses {{> name}}, also with a value as its context. The name may be any path or
// text.
func (t *tag) partial() {
	arguments, ok := t.arguments()
	switch {
	case !ok:
	case len(arguments) == 0 || len(arguments) > 2:
		t.fail(t.start, CodeSyntax, "a partial has one name: `{{> name}}`")
	default:
		if len(arguments) == 2 {
			if _, ok := t.path(arguments[1]); !ok {
				return
			}
		}
		t.add(&node{kind: nodeEmpty, at: t.start, strip: t.strip})
	}
}
