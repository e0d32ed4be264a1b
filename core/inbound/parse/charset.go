package parse

import (
	"bytes"
	"errors"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/ianaindex"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// charsetQuirks has charsets that the indexes do not have, or that mail uses with another
// meaning than browsers.
var charsetQuirks = map[string]encoding.Encoding{
	"hz-gb-2312":  simplifiedchinese.HZGB2312,
	"utf-16":      unicode.UTF16(unicode.BigEndian, unicode.UseBOM), // RFC 2781 section 4.3
	"utf-16be":    unicode.UTF16(unicode.BigEndian, unicode.UseBOM),
	"utf-16le":    unicode.UTF16(unicode.LittleEndian, unicode.UseBOM),
	"cp437":       charmap.CodePage437,
	"cp850":       charmap.CodePage850,
	"iso-8859-10": charmap.ISO8859_10,
}

// isUTF8Label reports whether the content is UTF-8, or, without a label or as ASCII, should
// be. In practice 8-bit content labelled as ASCII is UTF-8 or windows-1252.
func isUTF8Label(label string) (utf8Label, ascii bool) {
	switch label {
	case "utf-8", "utf8", "unicode-1-1-utf-8", "x-utf_8j":
		return true, false
	case "", "us-ascii", "ascii", "ansi_x3.4-1968", "unknown", "unknown-8bit", "x-unknown", "default", "iso646-us", "646":
		return false, true
	}
	return false, false
}

// findCharset returns the encoding of a label, or nil if it is not supported.
func findCharset(label string) encoding.Encoding {
	if quirk, ok := charsetQuirks[label]; ok {
		return quirk
	}
	// The index of browsers reads iso-8859-1 as windows-1252, which mail means, too. It has
	// a "replacement" that shows nothing, for charsets that are dangerous in browsers.
	if found, err := htmlindex.Get(label); err == nil && found != encoding.Replacement {
		return found
	}
	if found, err := ianaindex.MIME.Encoding(label); err == nil && found != nil && found != encoding.Replacement {
		return found
	}
	return nil
}

// normalLabel returns the label of a charset in the form that is compared.
func normalLabel(label string) string {
	label = strings.ToLower(strings.Trim(label, " \t\"'"))
	return strings.TrimPrefix(label, "charset=")
}

// decodeCharset returns text as valid UTF-8, at most limit bytes and one character.
func (p *parser) decodeCharset(label string, text []byte, limit int) string {
	label = normalLabel(label)
	isUTF8, isASCII := isUTF8Label(label)
	if isUTF8 || isASCII {
		return p.decodeUTF8(text, isASCII, limit)
	}
	found := findCharset(label)
	if found == nil {
		p.warn(UnknownCharset, visible(label, maxCharsetName))
		return p.decodeUTF8(text, true, limit)
	}
	return p.convert(found, text, limit)
}

// decodeUTF8 returns UTF-8 text. If it is no UTF-8 and guess is true, the text is read as
// windows-1252, in which every byte is a character.
func (p *parser) decodeUTF8(text []byte, guess bool, limit int) string {
	text = bytes.TrimPrefix(text, []byte("\uFEFF"))
	if utf8.Valid(text) {
		return cutString(string(text), limit)
	}
	p.warn(InvalidText, "")
	if guess {
		return p.convert(charmap.Windows1252, text, limit)
	}
	return cutString(string(bytes.ToValidUTF8(text, []byte("\uFFFD"))), limit)
}

// convert decodes text, at most limit bytes and one character of the result.
func (p *parser) convert(from encoding.Encoding, text []byte, limit int) string {
	var b strings.Builder
	b.Grow(min(len(text)+len(text)/8, limit))
	if p.decoded == nil {
		p.decoded = make([]byte, 4096)
	}
	decoder := from.NewDecoder()
	for b.Len() < limit {
		n, read, err := decoder.Transform(p.decoded, text, true)
		b.Write(p.decoded[:min(n, limit-b.Len())])
		text = text[read:]
		if !errors.Is(err, transform.ErrShortDst) || n+read == 0 {
			break // A decoder replaces what it cannot read, so this is the end of the text.
		}
	}
	s := b.String()
	if len(s) >= limit {
		s = withoutHalf(s)
	}
	if !utf8.ValidString(s) || strings.Contains(s, "\uFFFD") {
		p.warn(InvalidText, "")
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	return s
}

// withoutHalf removes the beginning of a character at the end of s.
func withoutHalf(s string) string {
	for i := 1; i <= utf8.UTFMax && i <= len(s); i++ {
		if c := s[len(s)-i]; utf8.RuneStart(c) {
			if !utf8.FullRuneInString(s[len(s)-i:]) {
				return s[:len(s)-i]
			}
			return s
		}
	}
	return s
}

// rawText returns the text of a header that is not encoded. It should be ASCII or UTF-8 (RFC
// 6532).
func (p *parser) rawText(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	return p.decodeUTF8([]byte(text), true, 3*len(text))
}

// htmlCharset returns the charset that HTML without a charset parameter declares in itself,
// or "".
func htmlCharset(text []byte) string {
	_, name, certain := charset.DetermineEncoding(text[:min(len(text), 1024)], "text/html")
	if !certain && name == "windows-1252" { // what it answers if there is no declaration
		return ""
	}
	return name
}
