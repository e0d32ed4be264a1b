package receiving

import (
	"slices"

	"github.com/mailhelm/mailhelm/core/inbound"
)

// Posture says what happens to mail that a scanner found to be spam or malware.
type Posture string

// The postures.
const (
	Tag  Posture = "tag"  // deliver it, with the verdict
	Drop Posture = "drop" // do not deliver it
)

// Document is what is published of a receiving domain. It is stored as JSON. The addresses of
// the domain are published as rows of their own, because there can be many.
type Document struct {
	// Routed is false for a verified domain whose mail is not delivered, because it has no
	// valid webhook.
	Routed bool `json:"routed"`
	// Patterns are globs of local parts in lower case. If there are none, mail to every local
	// part is delivered.
	Patterns []string `json:"patterns,omitempty"`
	Spam     Posture  `json:"spam,omitempty"`
	Virus    Posture  `json:"virus,omitempty"`
}

// Admits reports whether mail to a local part in lower case is delivered.
func (d Document) Admits(local string) bool {
	return len(d.Patterns) == 0 || matchAny(d.Patterns, local)
}

// matchAny reports whether one of the patterns matches a local part in lower case.
func matchAny(patterns []string, local string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return Match(p, local) })
}

// Drops returns why the postures drop a message with these verdicts, or "" if they do not.
// Only FAIL drops a message: a scanner that did not answer must not lose mail.
func (d Document) Drops(v inbound.Verdicts) string {
	switch {
	case d.Virus == Drop && v.Virus == inbound.Fail:
		return "The virus verdict is FAIL and the virus posture is drop."
	case d.Spam == Drop && v.Spam == inbound.Fail:
		return "The spam verdict is FAIL and the spam posture is drop."
	}
	return ""
}
