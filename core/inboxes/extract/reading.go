package extract

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// token is a run of letters and digits in a line.
type token struct {
	start, end int
	// digits is true if it has digits only, letters if it has letters only.
	digits, letters bool
	// joined is true if it is of a script without spaces between words.
	joined bool
}

// line is one line of a text.
type line struct {
	// text has ordinary digits and spaces, and spaces in place of addresses.
	text   string
	tokens []token
	// words has the tokens in lower case.
	words  []string
	labels []label
	// isParsed is true if tokens, words and labels are set.
	isParsed bool
}

// parse divides the line into tokens and finds its labels, once. Most lines are far from any
// code, and are not parsed.
func (l *line) parse() {
	if l.isParsed {
		return
	}
	l.isParsed = true
	l.tokenize()
	l.findLabels()
}

// mayHaveCode reports whether the line has what every code has: a digit or five capital letters.
func (l *line) mayHaveCode() bool {
	capitals := 0
	for i := range len(l.text) {
		switch b := l.text[i]; {
		case b >= '0' && b <= '9':
			return true
		case b >= 'A' && b <= 'Z':
			capitals++
		}
	}
	return capitals >= 5
}

// readLines returns the lines of a text that are not blank, not parsed. A longer line is cut.
func readLines(text string) []*line {
	var lines []*line
	for raw := range strings.SplitSeq(text, "\n") {
		if len(lines) >= maxLines {
			break
		}
		if len(raw) > maxLine {
			raw = strings.ToValidUTF8(raw[:maxLine], "")
		}
		l := &line{text: withoutAddresses(normalize(raw))}
		if strings.TrimSpace(l.text) == "" {
			continue
		}
		lines = append(lines, l)
	}
	return lines
}

// normalize writes digits of other scripts and wide letters as ASCII, every kind of space as
// a space, and removes characters without width, which some senders put between digits.
func normalize(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r < utf8.RuneSelf:
			if r < ' ' {
				return ' '
			}
			return r
		case r >= 0xFF10 && r <= 0xFF19, r >= 0xFF21 && r <= 0xFF3A, r >= 0xFF41 && r <= 0xFF5A, r == 0xFF1A:
			return r - 0xFF01 + '!' // full width; a comma stays, because it divides sentences
		case r >= 0x0660 && r <= 0x0669: // Arabic-Indic
			return r - 0x0660 + '0'
		case r >= 0x06F0 && r <= 0x06F9:
			return r - 0x06F0 + '0'
		case r >= 0x0966 && r <= 0x096F: // Devanagari
			return r - 0x0966 + '0'
		case r >= 0x200B && r <= 0x200F, r == 0x2060, r == 0xFEFF, r == 0x034F, r == 0x00AD:
			return -1
		case r >= 0x2010 && r <= 0x2014: // hyphens and dashes
			return '-'
		case unicode.IsSpace(r):
			return ' '
		}
		return r
	}, s)
}

// withoutAddresses replaces web and mail addresses by spaces, because numbers in them are no
// codes.
func withoutAddresses(s string) string {
	if !strings.Contains(s, "://") && !strings.Contains(s, "@") && !strings.Contains(s, "www.") {
		return s
	}
	var b strings.Builder
	for s != "" {
		n := strings.IndexAny(s, " <>()\"")
		switch {
		case n == 0:
			n = 1
		case n < 0:
			n = len(s)
		}
		word := s[:n]
		if strings.Contains(word, "://") || strings.HasPrefix(word, "www.") || strings.Contains(word, "@") {
			b.WriteByte(' ')
		} else {
			b.WriteString(word)
		}
		s = s[n:]
	}
	return b.String()
}

// isJoined reports whether a character is of a script without spaces between words.
func isJoined(r rune) bool {
	return r >= 0x0E00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai) || r == 'ー'
}

// tokenize divides the line.
func (l *line) tokenize() {
	var t token
	open := false
	end := func(at int) {
		if open {
			t.end = at
			l.tokens = append(l.tokens, t)
			l.words = append(l.words, strings.ToLower(l.text[t.start:at]))
			open = false
		}
	}
	for i, r := range l.text {
		joined := isJoined(r)
		isDigit := r >= '0' && r <= '9'
		if !joined && !isDigit && !unicode.IsLetter(r) && !unicode.IsMark(r) {
			end(i)
			continue
		}
		if open && t.joined != joined {
			end(i)
		}
		if !open {
			t, open = token{start: i, digits: true, letters: true, joined: joined}, true
		}
		t.digits = t.digits && isDigit
		t.letters = t.letters && !isDigit
	}
	end(len(l.text))
}

// before returns the character before the offset, and after the one at it, or 0.
func (l *line) before(at int) rune {
	if at == 0 {
		return 0
	}
	r, _ := utf8.DecodeLastRuneInString(l.text[:at])
	return r
}

func (l *line) after(at int) rune {
	if at >= len(l.text) {
		return 0
	}
	r, _ := utf8.DecodeRuneInString(l.text[at:])
	return r
}
