package parse

import (
	"encoding/base64"
	"strings"
)

// maxCharsetName bounds the name of a charset in an encoded word.
const maxCharsetName = 64

// encodedWord is one "=?charset?encoding?text?=" (RFC 2047 section 2).
type encodedWord struct {
	charset, text string
	encoding      byte
	// after is the index after the word.
	after int
}

// decodeWords decodes the encoded words in a header value. Adjacent words of one charset are
// decoded together, because senders divide a character between two words. Words inside of
// other words or quotes, longer than allowed, or with spaces are decoded, too. The result is
// valid UTF-8. Time is proportional to the length of the value.
func (p *parser) decodeWords(value string) string {
	i := strings.Index(value, "=?")
	if i < 0 {
		return p.rawText(value)
	}
	w := wordDecoder{parser: p}
	last := strings.LastIndex(value, "?=")
	done := 0
	for i >= 0 && i < last {
		word, ok := parseWord(value, i, last)
		if !ok {
			i = indexFrom(value, "=?", i+2)
			continue
		}
		w.between(value[done:i])
		w.word(word)
		done = word.after
		i = indexFrom(value, "=?", done)
	}
	w.between(value[done:])
	w.flush()
	return w.out.String()
}

// indexFrom returns the index of sep in s at or after from, or -1.
func indexFrom(s, sep string, from int) int {
	if i := strings.Index(s[from:], sep); i >= 0 {
		return from + i
	}
	return -1
}

// wordEnd returns the index of the "?=" that ends an encoded word whose text begins at from.
// It returns -1 if another word begins before. For that reason no text is searched twice.
func wordEnd(s string, from int) int {
	for i := from; i+1 < len(s); i++ {
		switch {
		case s[i] != '?':
		case s[i+1] == '=':
			return i
		case i > from && s[i-1] == '=':
			return -1
		}
	}
	return -1
}

// parseWord parses the encoded word at index i. last is the index of the last "?=".
func parseWord(s string, i, last int) (encodedWord, bool) {
	rest := s[i+2 : min(len(s), i+2+maxCharsetName+1)]
	n := strings.IndexByte(rest, '?')
	if n <= 0 || strings.ContainsAny(rest[:n], " \t=<>\"") {
		return encodedWord{}, false
	}
	charset := rest[:n]
	at := i + 2 + n + 1 // the encoding
	if at+1 >= len(s) || s[at+1] != '?' || at+2 > last {
		return encodedWord{}, false
	}
	encoding := s[at] | 0x20
	if encoding != 'b' && encoding != 'q' {
		return encodedWord{}, false
	}
	end := wordEnd(s, at+2)
	if end < 0 {
		return encodedWord{}, false
	}
	charset, _, _ = strings.Cut(charset, "*") // RFC 2231 section 5: a language
	return encodedWord{charset: charset, text: s[at+2 : end], encoding: encoding, after: end + 2}, true
}

// wordDecoder joins the bytes of adjacent words and decodes them.
type wordDecoder struct {
	*parser
	out     strings.Builder
	charset string
	bytes   []byte
	open    bool
}

// between adds the text between two words. Space between two encoded words is not part of
// the text (RFC 2047 section 6.2).
func (w *wordDecoder) between(text string) {
	if text == "" || w.open && strings.Trim(text, " \t") == "" {
		return
	}
	w.flush()
	w.out.WriteString(w.rawText(text))
}

func (w *wordDecoder) word(word encodedWord) {
	if w.open && !strings.EqualFold(w.charset, word.charset) {
		w.flush()
	}
	w.open, w.charset = true, word.charset
	if word.encoding == 'b' {
		w.bytes = appendBase64(w.bytes, word.text)
		return
	}
	w.bytes = appendQ(w.bytes, word.text)
}

// flush decodes the collected bytes.
func (w *wordDecoder) flush() {
	if w.open {
		w.out.WriteString(w.decodeCharset(w.charset, w.bytes, 3*len(w.bytes)+3))
		w.bytes, w.open = w.bytes[:0], false
	}
}

// appendBase64 appends the decoded text, of which characters outside of the alphabet are
// skipped.
func appendBase64(to []byte, text string) []byte {
	clean := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		if base64Values[text[i]] != notBase64 {
			clean = append(clean, text[i])
		}
	}
	if len(clean)%4 == 1 {
		clean = clean[:len(clean)-1]
	}
	to, _ = base64.RawStdEncoding.AppendDecode(to, clean) // only the alphabet is left
	return to
}

// appendQ appends the decoded text of the Q encoding (RFC 2047 section 4.2). An invalid
// escape stays as it is.
func appendQ(to []byte, text string) []byte {
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '_':
			to = append(to, ' ')
		case c == '=' && i+2 < len(text) && isHex(text[i+1]) && isHex(text[i+2]):
			to = append(to, unhex(text[i+1])<<4|unhex(text[i+2]))
			i += 2
		default:
			to = append(to, c)
		}
	}
	return to
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

// unhex returns the value of a hexadecimal digit.
func unhex(c byte) byte {
	switch {
	case c <= '9':
		return c - '0'
	case c >= 'a':
		return c - 'a' + 10
	}
	return c - 'A' + 10
}
