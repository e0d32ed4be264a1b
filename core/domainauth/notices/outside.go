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
		core := strings.TrimFunc(part, unicode.IsPunct)
		if !strings.Contains(core, ".") || strings.Trim(core, "0123456789.") == "" {
			parts[i] = strings.ReplaceAll(part, ":", " ")
			if strings.HasSuffix(part, ":") {
				parts[i] = strings.TrimRight(parts[i], " ") + ":"
			}
			continue
		}
		safe := core
		if ascii, ok := dmarc.Name(core); ok {
			safe = ascii
		}
		if safe == own || strings.HasSuffix(safe, "."+own) {
			parts[i] = strings.Replace(part, core, safe, 1)
			continue
		}
		m.defanged = true
		parts[i] = strings.Replace(part, core, strings.ReplaceAll(strings.ReplaceAll(safe, ":", " "), ".", "[.]"), 1)
	}
	return strings.Join(parts, " ")
}

// explainDots says why names have [.], if one has.
func (m *mail) explainDots() {
	if m.defanged {
		m.paragraph("Names of senders come from reports, and strangers choose some of them. Their dots are written as [.], so that your mail program makes no links of them.")
	}
}
