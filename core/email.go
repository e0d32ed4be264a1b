package core

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// The greatest lengths of an address and of its parts, in octets (RFC 5321 section
// 4.5.3.1).
const (
	maxLocalPart = 64
	maxAddress   = 254
	maxLabel     = 63
)

// IsEmail reports whether s is an address that Mailhelm accepts: a dot-string and a domain
// (RFC 5321 section 4.1.2) in visible ASCII. Quoted local parts and address literals are
// refused on purpose: they let nearly every character into headers, logs and prompts, and
// sending accounts refuse them too. An internationalized domain must be in its ASCII form;
// see [CanonicalEmail].
func IsEmail(s string) bool {
	at := strings.LastIndexByte(s, '@')
	return at > 0 && at <= maxLocalPart && len(s) <= maxAddress && isDotString(s[:at]) && isDomain(s[at+1:])
}

// CanonicalEmail returns an address in the form in which mail is sent to it. A domain with
// characters beyond ASCII is converted to its ASCII form by the rules for looking up a name
// (UTS 46, nontransitional; RFC 5891 section 5). A domain in ASCII keeps its spelling. The
// local part is never changed. The second result is false if IsEmail refuses the first, for
// example for a local part beyond ASCII: that needs SMTPUTF8 (RFC 6531), which sending
// accounts do not support.
func CanonicalEmail(s string) (string, bool) {
	at := strings.LastIndexByte(s, '@')
	if at < 0 {
		return "", false
	}
	if domain := s[at+1:]; len(s) <= maxAddress && utf8.ValidString(domain) && strings.ContainsFunc(domain, isBeyondASCII) {
		ascii, err := idna.Lookup.ToASCII(domain)
		if err != nil {
			return "", false
		}
		s = s[:at+1] + ascii
	}
	return s, IsEmail(s)
}

// EmailKey returns the form in which two addresses are compared: the canonical form in
// lower case, because sending accounts ignore case. For text that is not an address, it
// returns the text in lower case.
func EmailKey(s string) string {
	if canonical, ok := CanonicalEmail(s); ok {
		s = canonical
	}
	return strings.ToLower(s)
}

// CheckContactRef fails with [CodeValidationFailed] for a text that is neither the id nor
// the address of a contact. The error names the member "contact" of the request.
func CheckContactRef(contact string) error {
	if _, isAddress := CanonicalEmail(contact); !isAddress && !IsID(contact) {
		return Invalid("contact", "must be the id or the address of a contact")
	}
	return nil
}

func isBeyondASCII(r rune) bool { return r >= utf8.RuneSelf }

func isDotString(local string) bool {
	for atom := range strings.SplitSeq(local, ".") {
		if atom == "" || strings.ContainsFunc(atom, notInAtom) {
			return false
		}
	}
	return true
}

// notInAtom reports whether r is not an atext character (RFC 5322 section 3.2.3).
func notInAtom(r rune) bool {
	return !isAlphanumeric(r) && !strings.ContainsRune("!#$%&'*+-/=?^_`{|}~", r)
}

func isDomain(domain string) bool {
	for label := range strings.SplitSeq(domain, ".") {
		if label == "" || len(label) > maxLabel || label[0] == '-' || label[len(label)-1] == '-' || strings.ContainsFunc(label, notInLabel) {
			return false
		}
	}
	return true
}

func notInLabel(r rune) bool { return !isAlphanumeric(r) && r != '-' }

func isAlphanumeric(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
}

// MaskAddress returns the address with its local part hidden, such as a***@example.com: the
// first character, three asterisks and the domain. For text that is not an address, it
// returns only the asterisks.
func MaskAddress(address string) string {
	const hidden = "***"
	at := strings.LastIndexByte(address, '@')
	if at < 1 {
		return hidden
	}
	first, _ := utf8.DecodeRuneInString(address)
	return string(first) + hidden + address[at:]
}
