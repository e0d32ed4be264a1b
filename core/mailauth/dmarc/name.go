package dmarc

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// The greatest lengths of a domain name and of one label, in octets of the text form (RFC
// 1035 section 2.3.4).
const (
	maxName  = 253
	maxLabel = 63
)

// toASCII converts labels beyond ASCII by the rules for looking up a name (UTS 46,
// nontransitional). Underscores are allowed, because signing domains contain them.
var toASCII = idna.New(idna.MapForLookup(), idna.BidiRule(), idna.Transitional(false), idna.StrictDomainName(false))

// Name returns a domain in the form in which this package compares and looks up domains: in
// A-labels (section 5.3.1), lower case (section 4.4), without the final dot. The result is
// false if the text is not a domain name of letters, digits, hyphens and underscores, such
// as an address literal.
func Name(domain string) (string, bool) {
	domain = strings.TrimSuffix(domain, ".")
	if len(domain) > 4*maxName || !utf8.ValidString(domain) {
		return "", false
	}
	if strings.ContainsFunc(domain, func(r rune) bool { return r >= utf8.RuneSelf }) {
		ascii, err := toASCII.ToASCII(domain)
		if err != nil {
			return "", false
		}
		domain = strings.TrimSuffix(ascii, ".")
	}
	domain = strings.ToLower(domain)
	if domain == "" || len(domain) > maxName {
		return "", false
	}
	for label := range strings.SplitSeq(domain, ".") {
		if label == "" || len(label) > maxLabel || label[0] == '-' || label[len(label)-1] == '-' || strings.ContainsFunc(label, notInLabel) {
			return "", false
		}
	}
	return domain, true
}

func notInLabel(r rune) bool {
	return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '_'
}

// parent returns the domain without its leftmost label, or "" for a single label.
func parent(domain string) string {
	_, above, _ := strings.Cut(domain, ".")
	return above
}

func countLabels(domain string) int { return strings.Count(domain, ".") + 1 }

// lastLabels returns the rightmost n labels of a domain, or the whole domain if it has
// fewer.
func lastLabels(domain string, n int) string {
	for countLabels(domain) > n {
		domain = parent(domain)
	}
	return domain
}
