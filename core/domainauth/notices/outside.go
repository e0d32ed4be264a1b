package notices

import (
	"strings"
	"unicode"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/mailauth/dmarc"
)

// The greatest lengths, in characters, of a name and of a sentence with a name in a mail.
const (
	longestName     = 80
	longestSentence = 600
)

// outside returns a text of outsiders as a mail shows it: on one line, without invisible
// characters, cut at a limit, with domain names in A-labels, and with nothing of which a mail
// program makes a link. Names at or below own, the domain of the organization, stay as they are,
// and so do numbers.
func (m *mail) outside(text string, limit int, own string) string {
	words := strings.Fields(core.Quotable(text, limit))
	for i, word := range words {
		words[i] = m.harmless(word, own)
	}
	return strings.Join(words, " ")
}

// name returns the name of a sender.
func (m *mail) name(text, own string) string { return m.outside(text, longestName, own) }

// harmless returns a word that no mail program makes a link of: without the characters of
// addresses of pages and mailboxes, and with [.] for dots inside of names.
func (m *mail) harmless(word, own string) string {
	word = strings.Map(func(r rune) rune {
		switch r {
		case '/', '\\', '@', '<', '>':
			return ' '
		case '。', '．', '｡': // dots of domain names, too (UTS 46)
			return '.'
		}
		return r
	}, word)
	parts := strings.Fields(word)
	for i, part := range parts {
		inner := strings.TrimFunc(part, unicode.IsPunct)
		if inner == "" {
			continue
		}
		before, after, _ := strings.Cut(part, inner)
		parts[i] = before + m.harmlessName(inner, own) + after
	}
	return strings.Join(parts, " ")
}

// harmlessName returns a word without punctuation around it that no mail program makes a link of.
func (m *mail) harmlessName(word, own string) string {
	name, isName := dmarc.Name(word)
	switch {
	case !strings.Contains(word, "."):
		return strings.ReplaceAll(word, ":", " ")
	case strings.Trim(word, "0123456789.") == "":
		return word
	case isName && (name == own || strings.HasSuffix(name, "."+own)):
		return name
	case isName:
		word = name
	}
	m.defanged = true
	return strings.NewReplacer(":", " ", ".", "[.]").Replace(word)
}

// explainDots says why names have [.], if one has.
func (m *mail) explainDots() {
	if m.defanged {
		m.paragraph("Names of senders come from reports, and strangers choose some of them. Their dots are written as [.], so that your mail program makes no links of them.")
	}
}
