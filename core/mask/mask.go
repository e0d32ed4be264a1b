package mask

import (
	"bytes"
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mailhelm/mailhelm/core"
)

// Mask hides recipients from callers without the scope api.messages.unmask_recipients. It
// also hides the addresses that mail servers quote in the texts of their refusals. The zero
// Mask hides nothing.
type Mask struct {
	hides bool
	// whole matches the addresses of the known recipients. local matches their names (the
	// parts of these addresses before the @) where a name is a whole word. A match of local
	// may include a character before and after the name; a group has the name alone. whole
	// or local is nil if it has nothing to match.
	whole, local *regexp.Regexp
}

// For returns the mask for texts about these recipients. If the caller has the scope
// api.messages.unmask_recipients, it returns the zero Mask, which hides nothing.
func For(c *core.Call, recipients ...string) Mask {
	if c.Principal.Scopes.Has(core.MessagesUnmask) {
		return Mask{}
	}
	m := Mask{hides: true}
	var whole, local []string
	for _, address := range recipients {
		address = replaceInvalidBytes(address)
		at := strings.LastIndexByte(address, '@')
		if at < 1 {
			continue
		}
		whole = append(whole, address)
		if at >= shortestName {
			local = append(local, address[:at])
		}
	}
	m.whole = anyOf(whole, regexp.QuoteMeta)
	m.local = anyOf(local, wholeWord)
	return m
}

// shortestName is the minimum length of a local part (before the @) that is hidden on its
// own. Shorter local parts occur in too many words and identify no person.
const shortestName = 3

// anyOf returns an expression that matches any of the texts, ignoring upper and lower case.
// The function one converts a text to the expression that matches it. anyOf returns nil if
// there are no texts.
func anyOf(texts []string, one func(string) string) *regexp.Regexp {
	if len(texts) == 0 {
		return nil
	}
	// Longest first, because a regular expression takes the first alternative that matches.
	slices.SortFunc(texts, func(a, b string) int { return cmp.Or(len(b)-len(a), cmp.Compare(a, b)) })
	var alternatives []string
	for _, text := range slices.Compact(texts) {
		alternatives = append(alternatives, one(text))
	}
	return regexp.MustCompile(`(?i:` + strings.Join(alternatives, "|") + `)`)
}

// wordCharacters are the characters that continue a word, for a class of a regular
// expression. The class \w has only those of ASCII. Letters of other scripts do not
// continue a word, because some of these scripts do not separate words. So a name is masked
// even directly beside such a letter; this may hide too much, but not too little.
const wordCharacters = `\p{Latin}\p{Greek}\p{Cyrillic}\p{N}_`

var wordCharacter = regexp.MustCompile(`[` + wordCharacters + `]`)

// wholeWord returns an expression that matches the name, in a group, unless one of the
// wordCharacters is directly before or after it. If the name itself begins or ends with
// another character, such as "+", any character may be beside it on that side.
func wholeWord(name string) string {
	expression := `(` + regexp.QuoteMeta(name) + `)`
	first, _ := utf8.DecodeRuneInString(name)
	if wordCharacter.MatchString(string(first)) {
		expression = `(?:^|[^` + wordCharacters + `])` + expression
	}
	last, _ := utf8.DecodeLastRuneInString(name)
	if wordCharacter.MatchString(string(last)) {
		expression += `(?:$|[^` + wordCharacters + `])`
	}
	return expression
}

// replaceInvalidBytes returns the address with U+FFFD in place of each byte that is not
// valid UTF-8. Such a byte would make a regular expression invalid. U+FFFD in an expression
// matches the byte itself, and the U+FFFD with which JSON encoders replace it.
func replaceInvalidBytes(address string) string {
	if utf8.ValidString(address) {
		return address
	}
	return string([]rune(address))
}

// anyAddress matches a local part, @ or %40, and the first character of a domain, in prose
// or in a link.
var anyAddress = regexp.MustCompile(`[\p{L}\p{N}.!#$*+_~{|}^=-]+(?:@|%40)[\p{L}\p{N}\[]`)

// Address returns the address with a hidden local part, or unchanged if the mask hides
// nothing.
func (m Mask) Address(address string) string {
	if !m.hides {
		return address
	}
	return core.MaskAddress(address)
}

// Text returns s with all email addresses masked, also where they are encoded (base64,
// hexadecimal, percent). If s has a space, it also masks the names of recipients, the parts
// of their addresses before the @.
func (m Mask) Text(s string) string {
	if !m.hides {
		return s
	}
	if m.whole != nil {
		s = m.whole.ReplaceAllStringFunc(s, core.MaskAddress)
	}
	s = m.maskEncoded(s, 0)
	if strings.Contains(s, "@") || strings.Contains(s, "%40") {
		s = anyAddress.ReplaceAllStringFunc(s, maskLocalPart)
	}
	// A text of one word is a fixed value such as a status, so a recipient's name is
	// replaced only in texts with a space.
	if m.local != nil && strings.Contains(s, " ") {
		s = m.maskNames(s)
	}
	return s
}

// maskNames returns s with the names of recipients masked. It continues after each name, not
// after the match, because the character between two names belongs to the matches of both.
func (m Mask) maskNames(s string) string {
	var masked strings.Builder
	for {
		match := m.local.FindStringSubmatchIndex(s)
		if match == nil {
			break
		}
		start, end := 0, 0
		for group := 2; group < len(match); group += 2 {
			if match[group] >= 0 {
				start, end = match[group], match[group+1]
			}
		}
		masked.WriteString(s[:start] + firstOf(s[start:end]) + hidden)
		s = s[end:]
	}
	return masked.String() + s
}

const hidden = "***"

func firstOf(s string) string {
	for _, r := range s {
		return string(r)
	}
	return ""
}

// maskLocalPart returns the address found with the text before the last @ or %40 replaced
// by its first character and ***.
func maskLocalPart(found string) string {
	at := max(strings.LastIndex(found, "@"), strings.LastIndex(found, "%40"))
	return firstOf(found) + hidden + found[at:]
}

// Metadata returns the JSON object raw, the metadata of an event, with masked texts. It
// returns nil if raw is empty, is not an object or has no members. Numbers are not rounded.
func (m Mask) Metadata(raw json.RawMessage) map[string]any {
	if len(raw) == 0 {
		return nil
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var object map[string]any
	if decoder.Decode(&object) != nil || len(object) == 0 {
		return nil
	}
	if m.hides {
		object, _ = EachText(object, m.Text).(map[string]any)
	}
	return object
}

// EachText replaces every string in a JSON value, including member names, by the result of
// change, and returns the value. It changes arrays in place and copies objects.
func EachText(v any, change func(string) string) any {
	switch v := v.(type) {
	case string:
		return change(v)
	case []any:
		for i := range v {
			v[i] = EachText(v[i], change)
		}
		return v
	case map[string]any:
		if v == nil {
			return v
		}
		changed := make(map[string]any, len(v))
		for name, member := range v {
			changed[change(name)] = EachText(member, change)
		}
		return changed
	}
	return v
}
