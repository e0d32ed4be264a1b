package privacy

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/core"
)

// Person is a person that an organization writes to, as the database knows them.
type Person struct {
	// Key is the address in the form of core.EmailKey.
	Key string
	// ContactID is the id of the contact with the address, "" if there is none.
	ContactID string
	// OptedOut reports whether the contact has opted out of all mail or of a topic.
	OptedOut bool
	// Bounced and Complained report whether the address is listed as undeliverable for a
	// permanent bounce or a complaint, or suppressed by the account for it.
	Bounced, Complained bool
}

// Mentions returns the texts by which stored text mentions the person, in lower case: the
// address, as it is and as JSON and URLs encode it, and the id of the contact. Stored text can
// contain them without mentioning the person, as a part of a longer address; see
// [Mention.Matches].
func (p Person) Mentions() []string {
	texts := []string{p.Key, inJSON(p.Key), strings.ToLower(url.QueryEscape(p.Key)), strings.ToLower(url.PathEscape(p.Key))}
	if p.ContactID != "" {
		texts = append(texts, p.ContactID)
	}
	slices.Sort(texts)
	return slices.Compact(texts)
}

// inJSON returns a text as package encoding/json writes it, without the quotation marks.
func inJSON(text string) string {
	encoded, _ := json.Marshal(text) // never fails for a string
	return strings.Trim(string(encoded), `"`)
}

// Pseudonym stands for a person in rows that outlive their erasure. It is random and not
// stored elsewhere, so rows of two erasures cannot be joined with each other or with a person.
type Pseudonym struct {
	// ID has the form of core.NewID.
	ID string
	// Email is below erased.invalid, which cannot receive mail (RFC 2606 section 2).
	Email string
}

// NewPseudonym returns a new pseudonym.
func NewPseudonym() Pseudonym {
	random := make([]byte, 12)
	_, _ = rand.Read(random) // never fails; see crypto/rand
	return Pseudonym{ID: core.NewID(), Email: "person-" + hex.EncodeToString(random) + "@erased.invalid"}
}

// Mention finds and replaces mentions of a person in text.
type Mention struct {
	pattern *regexp.Regexp
	id      string
	as      Pseudonym
}

// before matches what may precede an address: the beginning, a character that addresses do not
// have, a slash or an equals sign of a URL, or a character that JSON or a URL has encoded. after
// matches what may follow it.
const (
	before = "(^|[^a-z0-9.!#$%&'*+?^_`{|}~-]|\\\\u[0-9a-f]{4}|\\\\[bfnrt]|%[0-9a-f]{2})"
	after  = `($|[^a-z0-9.-]|\.($|[^a-z0-9]))`
)

// NewMention returns a Mention of the person, which it replaces by the pseudonym.
func NewMention(p Person, as Pseudonym) Mention {
	texts := p.Mentions()
	// The longest comes first, because one encoding may begin with another.
	slices.SortFunc(texts, func(a, b string) int { return len(b) - len(a) })
	for i, text := range texts {
		texts[i] = regexp.QuoteMeta(text)
	}
	return Mention{regexp.MustCompile(`(?is)` + before + `(` + strings.Join(texts, "|") + `)` + after), p.ContactID, as}
}

// Matches reports whether a text mentions the person. A longer address that contains the
// person's is no mention.
func (m Mention) Matches(text string) bool { return m.pattern.MatchString(text) }

// Redact replaces the mentions in a text by the pseudonym.
func (m Mention) Redact(text string) string {
	// Two mentions may share the character between them, which one pass takes once.
	for range 2 {
		text = m.pattern.ReplaceAllStringFunc(text, func(found string) string {
			parts := m.pattern.FindStringSubmatch(found)
			as := m.as.Email
			if m.id != "" && strings.EqualFold(parts[2], m.id) {
				as = m.as.ID
			}
			return parts[1] + as + parts[3]
		})
	}
	return text
}
