package rest

import (
	"strings"

	"github.com/mailhelm/mailhelm/core"
)

// idempotencyKey returns the key in the header Idempotency-Key, or "" without the header.
// The key may be a string of structured fields (RFC 8941 section 3.3.3), "k1", or bare
// text, k1; both are the same key. It fails for any other form.
func idempotencyKey(values []string) (string, error) {
	switch {
	case len(values) == 0:
		return "", nil
	case len(values) > 1:
		return "", core.Invalid("Idempotency-Key", "is sent more than once")
	}
	key := strings.Trim(values[0], " \t")
	if strings.HasPrefix(key, `"`) {
		unquoted, ok := unquote(key)
		if !ok {
			return "", core.Invalid("Idempotency-Key", "is not a correctly quoted string")
		}
		key = unquoted
	} else if strings.ContainsAny(key, "\", \t") {
		return "", core.Invalid("Idempotency-Key", "must be quoted when it holds a space, a comma or a quote")
	}
	if key == "" {
		return "", core.Invalid("Idempotency-Key", "must not be empty")
	}
	if !isVisible(key) {
		return "", core.Invalid("Idempotency-Key", "must hold visible ASCII characters only")
	}
	return key, nil
}

// unquote removes the quotes and escapes of a structured-field string. It returns false if
// the string is malformed or text follows the closing quote.
func unquote(s string) (string, bool) {
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch c := s[i]; c {
		case '"':
			return b.String(), i == len(s)-1
		case '\\':
			i++
			if i == len(s) || s[i] != '"' && s[i] != '\\' {
				return "", false
			}
			b.WriteByte(s[i])
		default:
			b.WriteByte(c)
		}
	}
	return "", false
}

// isVisible reports whether s consists of visible ASCII characters and spaces.
func isVisible(s string) bool {
	for i := range len(s) {
		if s[i] < 0x20 || s[i] > 0x7e {
			return false
		}
	}
	return true
}
