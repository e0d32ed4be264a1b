package receiving

import "unicode/utf8"

// Match reports whether a glob matches a whole text. In the glob, * stands for any characters
// or none, ? for one character; there are no escapes. Both must have the same case. It takes
// at most len(pattern) times len(text) steps.
func Match(pattern, text string) bool {
	p, t := 0, 0
	// star is the place after the last * of the pattern that was reached, and resume the place
	// in the text at which the rest of the pattern was tried last. An earlier * need not be tried
	// again: what it could leave to the later one, the later one can skip itself.
	star, resume := -1, 0
	for t < len(text) {
		char, size := utf8.DecodeRuneInString(text[t:])
		if p < len(pattern) {
			want, width := utf8.DecodeRuneInString(pattern[p:])
			switch {
			case want == '*':
				p += width
				star, resume = p, t
				continue
			case want == '?' || want == char && pattern[p:p+width] == text[t:t+size]:
				p, t = p+width, t+size
				continue
			}
		}
		if star < 0 {
			return false
		}
		_, skipped := utf8.DecodeRuneInString(text[resume:])
		resume += skipped
		p, t = star, resume
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p == len(pattern)
}
