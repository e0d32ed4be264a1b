package predicate

import (
	"strings"
	"unicode/utf8"

	"github.com/mailhelm/mailhelm/core"
)

// lexer splits the text of a predicate into tokens, one at a time. It does not fail:
// invalid text becomes a tokenBad, for which the parser records a fault.
type lexer struct {
	source string
	at     int
	// symbols has further symbols of one byte, beside those of predicates.
	symbols string
}

// next returns the next token and moves the lexer to the end of that token.
func (l *lexer) next() token {
	l.skipBlank()
	start := l.at
	if start >= len(l.source) {
		return token{kind: tokenEnd, start: start, end: start}
	}
	var t token
	switch c := l.source[start]; {
	case isLetter(c):
		t = l.word()
	case isDigit(c):
		t = l.number()
	case c == '"':
		t = l.text()
	default:
		t = l.symbol()
	}
	t.start, t.end = start, l.at
	return t
}

// skipBlank skips white space and comments. A comment begins with "#" or "//" and extends
// to the end of the line.
func (l *lexer) skipBlank() {
	for l.at < len(l.source) {
		rest := l.source[l.at:]
		switch {
		case strings.IndexByte(" \t\r\n", rest[0]) >= 0:
			l.at++
		case rest[0] == '#' || strings.HasPrefix(rest, "//"):
			end := strings.IndexByte(rest, '\n')
			if end < 0 {
				end = len(rest)
			}
			l.at += end
		default:
			return
		}
	}
}

func (l *lexer) word() token {
	word := l.take(isNameByte)
	if l.at >= len(l.source) || l.source[l.at] != '.' {
		return token{kind: tokenWord, text: word}
	}
	switch word {
	case "attr":
		return l.name(word, tokenAttribute, isNameByte)
	case "activity":
		return l.name(word, tokenActivity, isActivityByte)
	case "property":
		return l.name(word, tokenProperty, isNameByte)
	}
	l.at++
	name := l.take(isActivityByte)
	fix := ""
	if prefix := core.NearestWord(word, []string{"attr", "activity", "property"}); prefix != "" {
		fix = prefix + "." + name
	}
	return token{kind: tokenBad, text: "there is no prefix " + quote(word+".") + ": attributes are written attr.<name>, activities activity.<name>", fix: fix}
}

// name reads the dot after a prefix such as "activity", and the name after the dot. The
// name consists of bytes for which of returns true. For activities and properties it may
// also be a string in quotes that is not empty.
func (l *lexer) name(prefix string, kind tokenKind, of func(byte) bool) token {
	l.at++
	if kind != tokenAttribute && strings.HasPrefix(l.source[l.at:], `"`) {
		t := l.text()
		if t.kind == tokenString && t.text == "" {
			return token{kind: tokenBad, text: "the name after " + quote(prefix+".") + " is empty"}
		}
		if t.kind == tokenString {
			t.kind = kind
		}
		return t
	}
	if text := l.take(of); text != "" {
		return token{kind: kind, text: text}
	}
	return token{kind: tokenBad, text: "a name must directly follow " + quote(prefix+".")}
}

// text reads a string in double quotes. The escapes are \" \\ \n \r and \t. A string cannot
// contain other control characters or line ends.
func (l *lexer) text() token {
	rest := l.source[l.at+1:]
	if plain := strings.IndexAny(rest, "\"\\\n"); plain >= 0 && rest[plain] == '"' {
		l.at += plain + 2
		return stringToken(rest[:plain])
	}
	var b strings.Builder
	for l.at++; l.at < len(l.source); l.at++ {
		switch c := l.source[l.at]; c {
		case '"':
			l.at++
			return token{kind: tokenString, text: b.String()}
		case '\\':
			l.at++
			escaped := l.escape()
			if escaped == 0 {
				return token{kind: tokenBad, text: `the escapes of a string are \" \\ \n \r and \t`}
			}
			b.WriteByte(escaped)
		case '\n':
			return token{kind: tokenBad, text: `the string has no closing " on its line`}
		default:
			if isControl(c) {
				return badControl
			}
			b.WriteByte(c)
		}
	}
	return token{kind: tokenBad, text: `the string has no closing "`}
}

var badControl = token{kind: tokenBad, text: "the string has a control character in it"}

func stringToken(text string) token {
	for i := range len(text) {
		if isControl(text[i]) {
			return badControl
		}
	}
	return token{kind: tokenString, text: text}
}

func (l *lexer) escape() byte {
	if l.at < len(l.source) {
		switch l.source[l.at] {
		case '"', '\\':
			return l.source[l.at]
		case 'n':
			return '\n'
		case 'r':
			return '\r'
		case 't':
			return '\t'
		}
	}
	return 0
}

// habits has operators of other languages, each with the operator that means the same in
// this language.
var habits = []struct{ sign, fix string }{
	{"==", "="}, {"<>", "!="}, {"=>", ">="}, {"=<", "<="}, {"&&", "and"}, {"||", "or"}, {"!", "not"},
}

func (l *lexer) symbol() token {
	rest := l.source[l.at:]
	if strings.HasPrefix(rest, "!=") || strings.HasPrefix(rest, "<=") || strings.HasPrefix(rest, ">=") {
		l.at += 2
		return token{kind: tokenSymbol, text: rest[:2]}
	}
	for _, habit := range habits {
		if strings.HasPrefix(rest, habit.sign) {
			l.at += len(habit.sign)
			return token{kind: tokenBad, text: quote(habit.sign) + " is not an operator of this language", fix: habit.fix}
		}
	}
	if strings.IndexByte("()[],+-=<>", rest[0]) >= 0 || strings.IndexByte(l.symbols, rest[0]) >= 0 {
		l.at++
		return token{kind: tokenSymbol, text: rest[:1]}
	}
	if rest[0] == '\'' {
		l.at++
		return token{kind: tokenBad, text: "strings are written in double quotes"}
	}
	_, size := utf8.DecodeRuneInString(rest)
	l.at += size
	return token{kind: tokenBad, text: quote(rest[:size]) + " is not allowed here"}
}

func (l *lexer) take(of func(byte) bool) string {
	start := l.at
	for l.at < len(l.source) && of(l.source[l.at]) {
		l.at++
	}
	return l.source[start:l.at]
}

func isLetter(c byte) bool       { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' }
func isDigit(c byte) bool        { return c >= '0' && c <= '9' }
func isNameByte(c byte) bool     { return isLetter(c) || isDigit(c) }
func isActivityByte(c byte) bool { return isNameByte(c) || c == '.' || c == '-' }
func isControl(c byte) bool      { return c < 0x20 || c == 0x7f }
