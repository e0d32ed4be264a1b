package frame

import (
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// The layouts, for [time.Time.Format], of dates and times on pages. All times are in UTC.
const (
	DateLayout   = time.DateOnly
	MomentLayout = "2006-01-02 15:04 UTC"
)

// PlainName returns a name without invisible characters and without characters that change
// the order of the text around it.
func PlainName(name string) string { return core.OnlyVisible(name) }

// Quoted returns a text of another person in quotation marks, as [PlainName] writes it.
func Quoted(text string) string { return "“" + PlainName(text) + "”" }

// Wrapped is a text with addresses or host names, which the template "wrapped" writes so that
// narrow pages break lines at their separators and not within words. An address that fits on a
// line is not broken.
type Wrapped string

// WrappedWord is a word of a text. Parts has more than one element if the word may be broken.
type WrappedWord struct{ Parts []string }

// WrappedAll returns texts for the template "wrapped".
func WrappedAll(texts []string) []Wrapped {
	all := make([]Wrapped, len(texts))
	for i, text := range texts {
		all[i] = Wrapped(text)
	}
	return all
}

// shortWord is the length in bytes of words that are never broken. It fits on every page.
const shortWord = 16

// Words returns the words of the text. Their parts in sequence, and a space between two words,
// are the text. A word that is an address of mail, a URL or a host name can be broken after an
// @, dot, slash, plus sign, equals sign or underscore, but not within a sequence of these.
// Browsers break words after hyphens without help.
func (w Wrapped) Words() []WrappedWord {
	var words []WrappedWord
	for word := range strings.SplitSeq(string(w), " ") {
		words = append(words, WrappedWord{partsOf(word)})
	}
	return words
}

// partsOf divides a word after its separators.
func partsOf(word string) []string {
	if len(word) <= shortWord || !isAddress(word) {
		return []string{word}
	}
	var parts []string
	start := 0
	for i := range len(word) - 1 {
		if isSeparator(word[i]) && !isSeparator(word[i+1]) {
			parts = append(parts, word[start:i+1])
			start = i + 1
		}
	}
	return append(parts, word[start:])
}

func isSeparator(b byte) bool { return strings.IndexByte("@./+=_", b) >= 0 }

// isAddress reports whether a word looks like an address of mail, a URL or a host name.
func isAddress(word string) bool {
	if strings.Contains(word, "@") || strings.Contains(word, "://") {
		return true
	}
	isHost := strings.IndexFunc(word, func(r rune) bool {
		return r != '.' && r != '-' && r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}) < 0
	return isHost && strings.Contains(word, ".")
}
