package mask

import (
	"bytes"
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/core"
)

// Mask hides recipients from callers without the scope. It also hides them in texts of mail
// servers, which quote the address that they refuse. The zero mask hides nothing.
type Mask struct {
	hides bool
	// whole matches the recipients' addresses, local matches their local parts as words.
	// Both are nil without a known recipient.
	whole, local *regexp.Regexp
}

// For returns the mask of a caller for texts about these recipients.
func For(c *core.Call, recipients ...string) Mask {
	if c.Principal.Scopes.Has(core.MessagesUnmask) {
		return Mask{}
	}
	m := Mask{hides: true}
	var whole, local []string
	for _, address := range recipients {
		at := strings.LastIndexByte(address, '@')
		if at < 1 {
			continue
		}
		whole = append(whole, regexp.QuoteMeta(address))
		if at >= shortestName {
			local = append(local, regexp.QuoteMeta(address[:at]))
		}
	}
	m.whole = anyOf(whole, `(?i:`, `)`)
	m.local = anyOf(local, `(?i:\b(?:`, `)\b)`)
	return m
}

// shortestName is the shortest local part that is hidden on its own. A shorter one occurs in
// too many words and identifies no person.
const shortestName = 3

func anyOf(alternatives []string, before, after string) *regexp.Regexp {
	if len(alternatives) == 0 {
		return nil
	}
	// Longest first, because the first alternative that fits is taken.
	slices.SortFunc(alternatives, func(a, b string) int { return cmp.Or(len(b)-len(a), cmp.Compare(a, b)) })
	// An address that is not UTF-8 makes no valid expression. The general expression
	// anyAddress hides it.
	found, err := regexp.Compile(before + strings.Join(slices.Compact(alternatives), "|") + after)
	if err != nil {
		return nil
	}
	return found
}

// anyAddress matches what looks like an address, in prose or in a link.
var anyAddress = regexp.MustCompile(`[\p{L}\p{N}.!#$*+_~{|}^=-]+(?:@|%40)[\p{L}\p{N}\[]`)

// Address returns an address, masked unless the mask hides nothing.
func (m Mask) Address(address string) string {
	if !m.hides {
		return address
	}
	return core.MaskAddress(address)
}

// Text returns s with the addresses of recipients and of others masked, even where they are
// encoded.
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
	// A single word is a value of a vocabulary, not a sentence about a person.
	if m.local != nil && strings.Contains(s, " ") {
		s = m.local.ReplaceAllStringFunc(s, func(name string) string { return firstOf(name) + hidden })
	}
	return s
}

const hidden = "***"

func firstOf(s string) string {
	for _, r := range s {
		return string(r)
	}
	return ""
}

// maskLocalPart hides the part before the last @ or its percent-encoded form.
func maskLocalPart(found string) string {
	at := max(strings.LastIndex(found, "@"), strings.LastIndex(found, "%40"))
	return firstOf(found) + hidden + found[at:]
}

// Metadata returns the members of an event's metadata, masked. It returns nil when there are
// none or when raw is not an object. Numbers keep their digits.
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

// EachText calls change for every text in a JSON value, including member names, and returns
// the changed value. It changes lists in place.
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
