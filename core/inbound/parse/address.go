package parse

import (
	"strings"
	"unicode"
)

// addresses reads a list of mailboxes (RFC 5322 section 3.4), at most Limits.Addresses. It
// tolerates names without quotes that have commas, dots or other special characters, missing
// brackets and quotes, and empty entries. Names of groups are left out, and their members
// are returned. An entry without a mailbox is returned with a name only. field is the name
// of the header field, for warnings.
func (p *parser) addresses(value *string, field string) []Address {
	if value == nil {
		return nil
	}
	r := addressReader{parser: p, field: field, rest: *value}
	for r.rest != "" && !r.full {
		r.step()
	}
	r.end(true)
	return r.all
}

// addressReader reads one list of mailboxes.
type addressReader struct {
	*parser
	field, rest string
	all         []Address
	full        bool

	// phrase is the text of the current entry outside of angle brackets and comments.
	phrase strings.Builder
	// quoted is true if the phrase has a quoted string.
	quoted bool
	// angle is the text in angle brackets, if hasAngle is true.
	angle    string
	hasAngle bool
	comment  string
	// before is the beginning of a name that has a comma, such as "Doe, Jane <jane@a.example>".
	before string
}

// step reads the next token.
func (r *addressReader) step() {
	switch c := r.rest[0]; c {
	case ',', ';':
		r.rest = r.rest[1:]
		r.end(c == ';')
	case ':':
		r.rest = r.rest[1:]
		if strings.Contains(r.phrase.String(), "@") {
			r.phrase.WriteByte(c)
			return
		}
		r.before = "" // the name of a group
		r.phrase.Reset()
		r.quoted = false
	case '"':
		r.quotedString()
	case '(':
		after := afterComment(r.rest)
		r.comment = strings.TrimSuffix(r.rest[1:len(r.rest)-len(after)], ")")
		r.rest = after
		r.phrase.WriteByte(' ')
	case '<':
		r.angleBrackets()
	default:
		n := strings.IndexAny(r.rest[1:], ",;:\"(<") + 1
		if n == 0 {
			n = len(r.rest)
		}
		r.phrase.WriteString(r.rest[:n])
		r.rest = r.rest[n:]
	}
}

// quotedString reads a quoted string. Without a closing quote, the quote is ignored.
func (r *addressReader) quotedString() {
	text, after, ok := unquote(r.rest)
	if !ok {
		r.rest = r.rest[1:]
		return
	}
	if strings.HasPrefix(after, "@") {
		// A quoted local part keeps its quotes.
		text = r.rest[:len(r.rest)-len(after)]
	} else {
		r.quoted = true
	}
	r.phrase.WriteString(text)
	r.rest = after
}

// unquote returns the text of a quoted string at the beginning of s, and what follows it.
// If it has no end, ok is false.
func unquote(s string) (text, after string, ok bool) {
	end := -1
	for i := 1; i < len(s) && end < 0; i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			end = i
		}
	}
	if end < 0 {
		return "", "", false
	}
	text = s[1:end]
	if strings.IndexByte(text, '\\') < 0 {
		return text, s[end+1:], true
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) {
			i++
		}
		b.WriteByte(text[i])
	}
	return b.String(), s[end+1:], true
}

// angleBrackets reads an address in angle brackets. Without a closing bracket, it ends at the
// next comma.
func (r *addressReader) angleBrackets() {
	r.rest = r.rest[1:]
	end, closed := 0, false
	inQuotes := false
	for ; end < len(r.rest) && !closed; end++ {
		switch c := r.rest[end]; {
		case c == '"':
			inQuotes = !inQuotes
		case c == '\\' && inQuotes:
			end++
		case c == '>' && !inQuotes:
			closed = true
		}
	}
	text := ""
	if closed {
		text, r.rest = r.rest[:end-1], r.rest[end:]
	} else {
		end = strings.IndexAny(r.rest, ",;")
		if end < 0 {
			end = len(r.rest)
		}
		text, r.rest = r.rest[:end], r.rest[end:]
	}
	if r.hasAngle {
		r.warn(InvalidAddress, r.field) // a second address in one entry
		return
	}
	r.angle, r.hasAngle = text, true
}

// end ends the current entry. last is true at the end of the list or of a group.
func (r *addressReader) end(last bool) {
	phrase, angle, hasAngle, quoted := r.phrase.String(), r.angle, r.hasAngle, r.quoted
	comment := r.comment
	r.phrase.Reset()
	r.angle, r.comment, r.hasAngle, r.quoted = "", "", false, false

	switch {
	case hasAngle:
		name := r.name(r.joinBefore(phrase))
		if name == "" {
			name = r.name(comment)
		}
		r.append(name, angle)
	case !quoted && strings.Contains(phrase, "@"):
		r.keepBefore()
		r.append(r.name(comment), phrase)
	case strings.TrimSpace(phrase) != "":
		r.before = cutString(r.joinBefore(phrase), r.limits.ValueBytes)
	}
	if last {
		r.keepBefore()
	}
}

// joinBefore returns the phrase with the entries before it that had no address.
func (r *addressReader) joinBefore(phrase string) string {
	before := r.before
	r.before = ""
	if before == "" {
		return phrase
	}
	return before + ", " + strings.TrimSpace(phrase)
}

// keepBefore returns an entry without an address as a name.
func (r *addressReader) keepBefore() {
	if name := r.name(r.before); name != "" {
		r.warn(InvalidAddress, r.field)
		r.add(Address{Name: name})
	}
	r.before = ""
}

// name returns the text of a display name.
func (r *addressReader) name(phrase string) string {
	return visible(r.decodeWords(phrase), maxNameBytes)
}

// append adds a mailbox. If the address is unreadable, only its name is added.
func (r *addressReader) append(name, address string) {
	address, ok := cleanAddress(address)
	if !ok {
		r.warn(InvalidAddress, r.field)
		if name == "" {
			return
		}
	}
	r.add(Address{Name: name, Address: address})
}

func (r *addressReader) add(a Address) {
	if len(r.all) >= r.limits.Addresses {
		r.warn(AddressLimit, r.field)
		r.full = true
		return
	}
	r.all = append(r.all, a)
}

// cleanAddress returns an address without the space around it and a source route (RFC 5322
// section 4.4). ok is false if it is not one mailbox: then the address is "". An address is
// never cut, because the beginning of an address is the address of another mailbox.
func cleanAddress(address string) (string, bool) {
	address = strings.TrimSpace(address)
	if strings.HasPrefix(address, "@") {
		if i := strings.IndexByte(address, ':'); i >= 0 {
			address = address[i+1:]
		}
	}
	address = strings.TrimPrefix(address, "mailto:")
	if strings.ContainsAny(address, " \t") && !strings.HasPrefix(address, `"`) {
		// Space around "@" and "." is obsolete, but not wrong.
		address = strings.Join(strings.Fields(address), "")
	}
	at := strings.LastIndexByte(address, '@')
	if at <= 0 || at == len(address)-1 || len(address) > maxAddressBytes {
		return "", false
	}
	for _, r := range address {
		if isInvisible(r) || r == unicode.ReplacementChar || r == '<' || r == '>' {
			return "", false
		}
	}
	if strings.ContainsAny(address[at+1:], " \t\",;()\\") || strings.ContainsRune(address[:at], '@') && !strings.HasPrefix(address, `"`) {
		return "", false
	}
	return address, true
}
