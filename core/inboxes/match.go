package inboxes

import (
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/inbound"
)

// Match narrows the messages that a poll returns. Each member that is not empty must match.
type Match struct {
	Sender   string `json:"match_sender,omitempty" jsonschema:"maxLength=254" jsonschema_description:"Only messages with this From address or envelope sender. @example.com matches all addresses at the domain. Case is ignored, as in the other match arguments."`
	Subject  string `json:"match_subject,omitempty" jsonschema:"maxLength=200" jsonschema_description:"Only messages whose subject contains this text."`
	Contains string `json:"match_contains,omitempty" jsonschema:"maxLength=200" jsonschema_description:"Only messages whose subject, text or HTML contains this text. Bodies over 256 KB are not searched."`
}

// selects reports whether the message matches.
func (f Match) selects(m inbound.Message) bool {
	if f.Sender != "" && !f.names(m.Sender) && (m.From == nil || !f.names(m.From.Address)) {
		return false
	}
	if !contains(m.Subject, f.Subject) {
		return false
	}
	return contains(m.Subject, f.Contains) || contains(m.Text, f.Contains) || contains(m.HTML, f.Contains)
}

// names reports whether Sender is the address, or the domain of the address after an @.
func (f Match) names(address string) bool {
	key, want := core.EmailKey(address), core.EmailKey(f.Sender)
	at := strings.LastIndexByte(key, '@')
	return at > 0 && (key == want || key[at:] == want)
}

// contains reports whether a text contains a part, in any case.
func contains(text, part string) bool {
	return part == "" || strings.Contains(strings.ToLower(text), strings.ToLower(part))
}
