package htmlcontext

import "strings"

// Escape says how a value is escaped.
type Escape uint8

// The ways to escape a value.
const (
	// EscapeNone is for values that stay as they are.
	EscapeNone Escape = iota
	// EscapeText is for text and quoted attributes, EscapeUnquoted for other attributes.
	EscapeText
	EscapeUnquoted
	// EscapeLinkStart is for a value that begins a link: its scheme is checked.
	EscapeLinkStart
	// EscapeLinkOpen is for a value that might continue a scheme.
	EscapeLinkOpen
	EscapeLink
	// EscapeArgument is for a value after "=" of a query.
	EscapeArgument
	// EscapeRawLink is for {{{x}}} where a scheme may begin or continue.
	EscapeRawLink
	EscapeStyle
	// EscapeStyleURL is for a value after "url(" of CSS.
	EscapeStyleURL

	// EscapeNotEmpty is added for a value that begins an attribute without quotes. If it is
	// empty, an encoded space is printed, because HTML would take what follows for the value.
	EscapeNotEmpty Escape = 1 << 7
)

func (e Escape) kind() Escape { return e &^ EscapeNotEmpty }

const (
	// EncodedSpace is printed for an empty value with EscapeNotEmpty.
	EncodedSpace = "&#32;"
	// refusedLink replaces a value with a scheme that is not allowed.
	refusedLink = "#"
)

// table has the replacement of each byte, or "" for a byte that stays.
type table [256]string

// tables has the table of each escape.
var tables = [...]*table{
	EscapeText: textTable(), EscapeUnquoted: unquotedTable(),
	EscapeLinkStart: linkTable(""), EscapeLinkOpen: linkTable(":"), EscapeLink: linkTable(""),
	EscapeArgument: percentTable(isUnreserved),
	EscapeStyle:    styleTable(""), EscapeStyleURL: styleTable(" "),
}

// textTable has the entities of handlebars.js (escapeExpression in utils.js).
func textTable() *table {
	return &table{'&': "&amp;", '<': "&lt;", '>': "&gt;", '"': "&quot;", '\'': "&#x27;", '`': "&#x60;", '=': "&#x3D;"}
}

func unquotedTable() *table {
	t := textTable()
	t['\t'], t['\n'], t['\f'], t['\r'], t[' '] = "&#9;", "&#10;", "&#12;", "&#13;", EncodedSpace
	return t
}

// linkTable percent-encodes what a URL cannot contain (RFC 3986), and the bytes of more.
// What remains is escaped as HTML.
func linkTable(more string) *table {
	const reserved = ":/?#[]@!$&()*+,;=%"
	t := percentTable(func(b byte) bool {
		return isUnreserved(b) || strings.IndexByte(reserved, b) >= 0 && strings.IndexByte(more, b) < 0
	})
	t['&'], t['='] = "&amp;", "&#x3D;"
	return t
}

func isUnreserved(b byte) bool {
	return isLetter(b) || '0' <= b && b <= '9' || strings.IndexByte("-._~", b) >= 0
}

const hexDigits = "0123456789ABCDEF"

func percentTable(keep func(byte) bool) *table {
	t := &table{}
	for i := range t {
		if b := byte(i); !keep(b) {
			t[i] = "%" + string(hexDigits[b>>4]) + string(hexDigits[b&15])
		}
	}
	return t
}

// styleTable has the escapes of CSS, which end with a space. Letters, digits, the bytes of
// other alphabets and a few signs of numbers and colors stay.
func styleTable(more string) *table {
	t := &table{}
	for i := range t {
		b := byte(i)
		stays := b >= 0x80 || isLetter(b) || '0' <= b && b <= '9' || strings.IndexByte(" _.,#%+-", b) >= 0
		if !stays || strings.IndexByte(more, b) >= 0 {
			t[i] = `\` + string(hexDigits[b>>4]) + string(hexDigits[b&15]) + " "
		}
	}
	t[0] = `\FFFD `
	return t
}

// Append appends a text as its place requires. The caller handles EscapeNotEmpty.
func Append[T string | []byte](dst []byte, s T, e Escape) []byte {
	kind := e.kind()
	switch kind {
	case EscapeLinkStart, EscapeRawLink, EscapeStyleURL:
		s = trimControls(s)
		if !hasAllowedScheme(s, kind == EscapeRawLink) {
			return append(dst, refusedLink...)
		}
	}
	if kind == EscapeNone || kind == EscapeRawLink {
		return append(dst, s...)
	}
	t, from := tables[kind], 0
	for i := 0; i < len(s); i++ {
		if replacement := t[s[i]]; replacement != "" {
			dst = append(dst, s[from:i]...)
			dst = append(dst, replacement...)
			from = i + 1
		}
	}
	return append(dst, s[from:]...)
}

// trimControls removes leading and trailing blanks and control characters, as a URL parser
// does. Trailing ones do not matter for the scheme.
func trimControls[T string | []byte](s T) T {
	from, to := 0, len(s)
	for from < to && s[from] <= ' ' {
		from++
	}
	for to > from && s[to-1] <= ' ' {
		to--
	}
	return s[from:to]
}

// hasAllowedScheme reports whether a link has an allowed scheme or none. URL parsers ignore
// tabs and line ends, also inside of a scheme. If raw is true, the link may have character
// references, so an ampersand might be a part of a scheme.
func hasAllowedScheme[T string | []byte](s T, raw bool) bool {
	var scheme word
	for i := 0; i < len(s); i++ {
		switch b := s[i]; b {
		case '\t', '\n', '\r':
		case ':':
			return scheme.isScheme()
		case '/', '?', '#', '\\':
			return true
		case '&':
			if raw {
				return false
			}
			scheme.add(b)
		default:
			scheme.add(b)
		}
	}
	return true
}

// Continued returns how a value is escaped if a comma is before it. A comma cannot be in a
// scheme.
func (e Escape) Continued() Escape {
	switch e.kind() {
	case EscapeLinkStart:
		return EscapeLink
	case EscapeStyleURL:
		return EscapeStyle
	case EscapeRawLink:
		return EscapeNone
	}
	return e
}

// Trusted returns how a trusted address is escaped at the place: only the syntax of HTML
// around it matters.
func (e Escape) Trusted() Escape {
	if e&EscapeNotEmpty != 0 {
		return EscapeUnquoted | EscapeNotEmpty
	}
	return EscapeText
}
