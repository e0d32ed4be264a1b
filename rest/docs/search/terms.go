package search

import (
	"slices"
	"strings"
	"unicode"
)

// Terms returns the words of a text in lower case. A name such as contacts_update or
// api.contacts.view is a term, and so is each of its parts.
func Terms(text string) []string {
	var terms []string
	for _, word := range words(text) {
		terms = append(terms, word)
		parts := strings.FieldsFunc(word, func(r rune) bool { return !isPart(r) })
		if len(parts) > 1 {
			terms = append(terms, parts...)
		}
	}
	return terms
}

// words returns the words of a text in lower case. A name with _, . or - between its parts
// is one word.
func words(text string) []string {
	var all []string
	for _, word := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !isPart(r) && r != '_' && r != '.' && r != '-' }) {
		if word = strings.Trim(word, "_.-"); word != "" {
			all = append(all, word)
		}
	}
	return all
}

// isPart reports whether a character is part of a word.
func isPart(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// queryTerms returns the terms of a query: whole names, without their parts.
func queryTerms(query string) []string {
	var terms []string
	for _, word := range words(query) {
		if !slices.Contains(terms, word) {
			terms = append(terms, word)
		}
	}
	return terms[:min(len(terms), maxTerms)]
}

// Part is a part of a snippet. Hit marks a part that is a term of the query.
type Part struct {
	Text string
	Hit  bool
}

// The length of a snippet in characters: before the first term, and in all.
const (
	snippetBefore = 60
	snippetLength = 220
)

// snippet returns the part of a text around the first term of the query, in parts.
func snippet(text string, terms []string) []Part {
	characters := []rune(strings.Join(strings.Fields(text), " "))
	lower := make([]rune, len(characters))
	for i, r := range characters {
		lower[i] = unicode.ToLower(r)
	}
	first := len(characters)
	for _, term := range terms {
		if at := indexOf(lower, []rune(term), 0); at >= 0 {
			first = min(first, at)
		}
	}
	if first == len(characters) {
		first = 0
	}
	begin := max(0, first-snippetBefore)
	end := min(len(characters), begin+snippetLength)
	parts := split(characters[begin:end], lower[begin:end], terms)
	if begin > 0 {
		parts = append([]Part{{Text: "… "}}, parts...)
	}
	if end < len(characters) {
		parts = append(parts, Part{Text: " …"})
	}
	return parts
}

// split divides a text into parts that are terms and parts that are not.
func split(text, lower []rune, terms []string) []Part {
	var parts []Part
	for at := 0; at < len(text); {
		next, length := len(text), 0
		for _, term := range terms {
			found := indexOf(lower, []rune(term), at)
			if found >= 0 && (found < next || found == next && len([]rune(term)) > length) {
				next, length = found, len([]rune(term))
			}
		}
		if next > at {
			parts = append(parts, Part{Text: string(text[at:next])})
		}
		if length > 0 {
			parts = append(parts, Part{Text: string(text[next : next+length]), Hit: true})
		}
		at = next + length
	}
	return parts
}

// indexOf returns the first place of a term in a text from a position on, or -1.
func indexOf(text, term []rune, from int) int {
	for i := from; i+len(term) <= len(text); i++ {
		if slices.Equal(text[i:i+len(term)], term) {
			return i
		}
	}
	return -1
}
