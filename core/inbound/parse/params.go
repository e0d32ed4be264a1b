package parse

import (
	"strconv"
	"strings"
)

// maxParams bounds the parameters of one field, and the pieces of a divided parameter.
const maxParams = 100

// splitParams splits the value of Content-Type or Content-Disposition into the value before
// the parameters, in lower case, and the parameters by their name in lower case. It tolerates
// missing quotes and semicolons, spaces, comments and repeated parameters, of which the
// first counts. Parameters in the form of RFC 2231 are joined and decoded, those with encoded
// words, too. It does not fail.
func (p *parser) splitParams(value string) (main string, params map[string]string) {
	main, rest := cutAt(value, ';')
	main = strings.ToLower(strings.TrimSpace(main))
	if i := strings.IndexAny(main, " \t("); i >= 0 {
		// "text/plain charset=utf-8" lacks a semicolon.
		main, rest = main[:i], value[min(len(value), leading(value)+i):]
	}
	if rest == "" {
		return main, nil
	}
	s := paramScanner{rest: rest}
	collected := extended{parser: p, plain: map[string]string{}}
	for range maxParams {
		name, text, ok := s.next()
		if !ok {
			break
		}
		collected.add(strings.ToLower(name), text)
	}
	return main, collected.join()
}

// leading returns the number of spaces at the beginning of s.
func leading(s string) int { return len(s) - len(strings.TrimLeft(s, " \t")) }

func cutAt(s string, c byte) (before, after string) {
	if i := strings.IndexByte(s, c); i >= 0 {
		return s[:i], s[i+1:]
	}
	return s, ""
}

// paramScanner reads parameters one after the other.
type paramScanner struct{ rest string }

// next returns the next parameter, with quotes and escapes removed. Text without "=" is
// skipped.
func (s *paramScanner) next() (name, value string, ok bool) {
	for {
		s.rest = strings.TrimLeft(s.rest, " \t;")
		if s.rest == "" {
			return "", "", false
		}
		if s.rest[0] == '(' {
			s.rest = afterComment(s.rest)
			continue
		}
		end := strings.IndexAny(s.rest, "=;")
		if end < 0 {
			return "", "", false
		}
		name = strings.TrimSpace(s.rest[:end])
		if i := strings.LastIndexAny(name, " \t"); i >= 0 {
			name = name[i+1:]
		}
		separator := s.rest[end]
		s.rest = s.rest[end+1:]
		if separator == '=' && name != "" {
			return name, s.value(), true
		}
	}
}

func (s *paramScanner) value() string {
	s.rest = strings.TrimLeft(s.rest, " \t")
	if strings.HasPrefix(s.rest, `"`) {
		return s.quoted()
	}
	whole := s.rest
	var text string
	text, s.rest = cutAt(s.rest, ';')
	if i := strings.Index(text, " ("); i >= 0 && strings.HasSuffix(strings.TrimSpace(text), ")") {
		text = text[:i]
	}
	text = strings.TrimSpace(text)
	// "charset=utf-8 format=flowed" lacks a semicolon.
	if i := strings.IndexAny(text, " \t"); i >= 0 && strings.Contains(text[i:], "=") && !strings.Contains(text, "=?") {
		s.rest = whole[i:]
		text = text[:i]
	}
	return text
}

// quoted reads a quoted string. A backslash escapes only a quote or backslash, because some
// senders write paths. Without a closing quote, the string ends at the next semicolon.
func (s *paramScanner) quoted() string {
	var b strings.Builder
	for i := 1; i < len(s.rest); i++ {
		c := s.rest[i]
		switch {
		case c == '"':
			s.rest = s.rest[i+1:]
			return b.String()
		case c == '\\' && i+1 < len(s.rest) && (s.rest[i+1] == '"' || s.rest[i+1] == '\\'):
			i++
			c = s.rest[i]
		}
		b.WriteByte(c)
	}
	var text string
	text, s.rest = cutAt(s.rest[1:], ';')
	return strings.TrimSpace(text)
}

// afterComment returns what follows a comment at the beginning of s. A comment without end
// ends with s.
func afterComment(s string) string {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return s[i+1:]
			}
		}
	}
	return ""
}

// piece is a part of a parameter that is divided or has a charset (RFC 2231 sections 3, 4).
type piece struct {
	text    string
	encoded bool
}

// extended collects parameters.
type extended struct {
	*parser
	plain   map[string]string
	divided map[string]map[int]piece
}

// add adds the parameter "name", "name*", "name*0" or "name*0*".
func (e *extended) add(name, text string) {
	text = cutString(text, maxParamBytes)
	base, suffix, star := strings.Cut(name, "*")
	if !star {
		if _, again := e.plain[name]; !again {
			e.plain[name] = text
		}
		return
	}
	number, encoded := strings.CutSuffix(suffix, "*")
	if number == "" { // "name*"
		number, encoded = "0", true
	}
	n, err := strconv.Atoi(number)
	if err != nil || n < 0 || n >= maxParams {
		return
	}
	if e.divided == nil {
		e.divided = map[string]map[int]piece{}
	}
	if e.divided[base] == nil {
		e.divided[base] = map[int]piece{}
	}
	if _, again := e.divided[base][n]; !again {
		e.divided[base][n] = piece{text, encoded}
	}
}

// join returns the parameters with the pieces put together. A parameter with a charset is
// preferred to one of the same name without (RFC 6266 section 4.3).
func (e *extended) join() map[string]string {
	for name, text := range e.plain {
		if strings.Contains(text, "=?") {
			e.plain[name] = e.decodeWords(text)
		}
	}
	for name, pieces := range e.divided {
		if text, ok := e.joined(pieces); ok {
			e.plain[name] = text
		}
	}
	return e.plain
}

// joined returns the pieces in their order, up to the first that is missing.
func (e *extended) joined(pieces map[int]piece) (string, bool) {
	var bytes []byte
	charset, anyEncoded := "", false
	for n := 0; len(bytes) <= maxParamBytes; n++ {
		p, ok := pieces[n]
		if !ok {
			break
		}
		text := p.text
		if p.encoded {
			anyEncoded = true
			if n == 0 {
				charset, text = withoutCharset(text)
			}
			bytes = appendPercent(bytes, text)
			continue
		}
		bytes = append(bytes, text...)
	}
	if len(bytes) == 0 {
		return "", false
	}
	if !anyEncoded {
		return e.decodeWords(string(bytes)), true
	}
	return e.decodeCharset(charset, bytes, 3*maxParamBytes), true
}

// withoutCharset splits "charset'language'text". Text without quotes is returned whole.
func withoutCharset(text string) (charset, rest string) {
	charset, after, ok := strings.Cut(text, "'")
	if !ok {
		return "", text
	}
	_, rest, ok = strings.Cut(after, "'")
	if !ok {
		return "", text
	}
	return charset, rest
}

// appendPercent appends text with its percent escapes decoded. An invalid escape stays.
func appendPercent(to []byte, text string) []byte {
	for i := 0; i < len(text); i++ {
		if text[i] == '%' && i+2 < len(text) && isHex(text[i+1]) && isHex(text[i+2]) {
			to = append(to, unhex(text[i+1])<<4|unhex(text[i+2]))
			i += 2
			continue
		}
		to = append(to, text[i])
	}
	return to
}

// mediaType returns the media type of a part and its parameters. parent is the multipart
// around it, or nil. A missing or unreadable type is text/plain (RFC 2045 section 5.2), in a
// digest message/rfc822 (RFC 2046 section 5.1.5).
func (p *parser) mediaType(value string, parent *entity) (string, map[string]string) {
	missing := "text/plain"
	if parent != nil && parent.mediaType == "multipart/digest" {
		missing = "message/rfc822"
	}
	if value == "" {
		return missing, nil
	}
	main, params := p.splitParams(value)
	kind, subtype, _ := strings.Cut(main, "/")
	switch {
	case len(main) > maxTypeBytes || !isToken(kind) || subtype != "" && !isToken(subtype):
		return "application/octet-stream", params
	case kind == "text" && subtype == "":
		return "text/plain", params
	case kind == "multipart" && subtype == "":
		return "multipart/mixed", params
	case subtype == "":
		return "application/octet-stream", params
	}
	return main, params
}

// isToken reports whether s is a token of RFC 2045 section 5.1.
func isToken(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c <= ' ' || c > '~' || strings.IndexByte(`()<>@,;:\"/[]?=`, c) >= 0 {
			return false
		}
	}
	return s != ""
}
