package handlebars

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// tokenKind says what a token inside a tag is.
type tokenKind uint8

const (
	// tokenPath is a word such as name, ../x.[a b] or @index. It is checked later.
	tokenPath tokenKind = iota
	// tokenString is a text in quotes.
	tokenString
	// tokenSign is a character such as ( = or |.
	tokenSign
	// tokenClose is the end of the tag.
	tokenClose
	// tokenOpen means that a new tag begins before the end of this one.
	tokenOpen
	// tokenEnd is the end of the source.
	tokenEnd
	// tokenBraces is a close with one brace more than the tag begins with.
	tokenBraces
)

type token struct {
	kind    tokenKind
	at, end int
	// text is the token as written, for a string without quotes and escapes.
	text string
	// strip is true for a close with "~".
	strip bool
}

// tagLexer splits the inside of one tag into tokens.
type tagLexer struct {
	source string
	at     int
	// triple is true for a tag that begins with three braces.
	triple bool
}

func (l *tagLexer) next() token {
	l.at += len(l.source[l.at:]) - len(strings.TrimLeftFunc(l.source[l.at:], isSpace))
	start, rest := l.at, l.source[l.at:]
	if rest == "" {
		return token{kind: tokenEnd, at: start, end: start}
	}
	if !l.triple && strings.HasPrefix(rest, "}}}") || strings.HasPrefix(rest, "}}}}") {
		return token{kind: tokenBraces, at: start, end: start}
	}
	if close, strip := l.closing(rest); close > 0 {
		l.at += close
		return token{kind: tokenClose, at: start, end: l.at, strip: strip}
	}
	if strings.HasPrefix(rest, "{{") {
		return token{kind: tokenOpen, at: start, end: start}
	}
	if rest[0] == '"' || rest[0] == '\'' {
		return l.text(rest)
	}
	if n := pathLength(rest); n > 0 {
		l.at += n
		return token{kind: tokenPath, at: start, end: l.at, text: rest[:n]}
	}
	_, size := utf8.DecodeRuneInString(rest)
	l.at += size
	return token{kind: tokenSign, at: start, end: l.at, text: rest[:size]}
}

// closing returns the length of the tag's close at the beginning of rest, or 0.
func (l *tagLexer) closing(rest string) (length int, strip bool) {
	if l.triple {
		if strings.HasPrefix(rest, "}}}") {
			return 3, false
		}
		if strings.HasPrefix(rest, "}~}}") {
			return 4, true
		}
		return 0, false
	}
	if strings.HasPrefix(rest, "}}") {
		return 2, false
	}
	if strings.HasPrefix(rest, "~}}") {
		return 3, true
	}
	return 0, false
}

// text reads a string in quotes. A backslash before the same quote is dropped. A string
// without a closing quote on its line is a sign.
func (l *tagLexer) text(rest string) token {
	start, mark := l.at, rest[0]
	for i := 1; i < len(rest) && rest[i] != '\n'; i++ {
		switch {
		case rest[i] == '\\' && i+1 < len(rest) && rest[i+1] == mark:
			i++
		case rest[i] == mark:
			l.at += i + 1
			text := strings.ReplaceAll(rest[1:i], `\`+string(mark), string(mark))
			return token{kind: tokenString, at: start, end: l.at, text: text}
		}
	}
	l.at++
	return token{kind: tokenSign, at: start, end: l.at, text: rest[:1]}
}

// pathLength returns the length of the path at the beginning of s. Names in brackets may
// contain any character, but must end on the same line.
func pathLength(s string) int {
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case c == '.' || c == '/' || c == '@':
			i++
		case c == '[':
			n := bracketLength(s[i:])
			if n == 0 {
				return i
			}
			i += n
		default:
			n := nameLength(s[i:])
			if n == 0 {
				return i
			}
			i += n
		}
	}
	return len(s)
}

// bracketLength returns the length of the name in brackets at the beginning of s, or 0 if
// it does not end on the same line.
func bracketLength(s string) int {
	for i := 1; i < len(s) && s[i] != '\n'; i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s) && s[i+1] == ']':
			i++
		case s[i] == ']':
			return i + 1
		}
	}
	return 0
}

// nameLength returns the length of the name without brackets at the beginning of s. These
// are the characters of ID in handlebars.l.
func nameLength(s string) int {
	for i, r := range s {
		if isSpace(r) || strings.ContainsRune("!\"#%&'()*+,./;<=>@[\\]^`{|}~", r) {
			return i
		}
	}
	return len(s)
}

// isSpace reports whether \s of JavaScript matches the character.
func isSpace(r rune) bool {
	return r == 0xfeff || r != 0x85 && unicode.IsSpace(r)
}
