package safehtml

import "strings"

// cleanStyle returns the allowed declarations of a style attribute.
func cleanStyle(style string) string {
	var b strings.Builder
	for declaration := range strings.SplitSeq(style, ";") {
		property, value, found := strings.Cut(declaration, ":")
		property, value = strings.ToLower(strings.TrimSpace(property)), strings.TrimSpace(value)
		if !found || !styleProperties[property] || !isPlainValue(value) {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(';')
		}
		b.WriteString(property + ":" + value)
	}
	return b.String()
}

// isPlainValue reports whether the value of a declaration has only words, numbers, strings and
// allowed functions. Characters that CSS gives another meaning are not allowed anywhere, so
// that it does not matter where a browser sees a string or a comment begin: escapes, comments,
// blocks, at-rules, and the colon of an address.
func isPlainValue(value string) bool {
	quotes, open := map[byte]int{}, 0
	word := 0 // the index at which the word before a parenthesis begins
	for i := range len(value) {
		b := value[i]
		switch {
		case 'a' <= b && b <= 'z', 'A' <= b && b <= 'Z', '0' <= b && b <= '9', b == '-', b == '_', b >= 0x80:
			continue
		case b == '(':
			if !styleFunctions[strings.ToLower(value[word:i])] {
				return false
			}
			open++
		case b == ')':
			if open--; open < 0 {
				return false
			}
		case b == '"', b == '\'':
			quotes[b]++
		case !strings.ContainsRune(" \t\r\n#%.,+/!*", rune(b)):
			return false
		}
		word = i + 1
	}
	return value != "" && open == 0 && quotes['"']%2 == 0 && quotes['\'']%2 == 0 && !strings.Contains(value, "/*")
}
