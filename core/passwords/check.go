package passwords

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// The minimum and maximum length of a password, in characters. NIST SP 800-63B section
// 3.1.1.2 requires at least 8 characters if there is also a second factor. The maximum
// exists because Argon2id accepts any length: a stranger could make this server hash
// megabytes.
const (
	Least = 8
	Most  = 1024
)

// leastPart is the minimum length, in bytes, of the parts of an email address that a
// password must not contain. Shorter parts occur in words by chance.
const leastPart = 4

// product is the name of this product. A password must not contain it, because attackers
// try it.
const product = "mailhelm"

// Refusal says why a password is not accepted. Reason continues a sentence that begins with
// "the password". Next is a sentence that says what to do.
type Refusal struct{ Reason, Next string }

// Check returns why a user with this email address must not choose the password, or nil if
// it is accepted. It refuses a password that is too short, too long or among the 10,000
// most common. It also refuses one that contains a part of the address or the product's
// name. It ignores case and compatible Unicode variants (NFKC).
func Check(password, email string) *Refusal {
	if n := utf8.RuneCountInString(password); n < Least || n > Most {
		return &Refusal{fmt.Sprintf("must have from %d to %d characters", Least, Most), "Choose another one."}
	}
	plain := foldCase(password)
	if isFrequent(plain) {
		return &Refusal{"is one of the 10,000 most common", "Choose another one, such as a sequence of several words."}
	}
	if strings.Contains(plain, product) {
		return &Refusal{fmt.Sprintf("contains the name of this product, %q", product), "Choose one without it."}
	}
	for _, part := range partsOf(foldCase(email)) {
		if strings.Contains(plain, part) {
			return &Refusal{fmt.Sprintf("contains a part of the address, %q", part), "Choose one without it."}
		}
	}
	return nil
}

func foldCase(text string) string { return strings.ToLower(norm.NFKC.String(text)) }

// partsOf returns the parts of an email address that an attacker would try in passwords:
// the local part, with and without its +tag, and the labels of the domain except the last.
func partsOf(email string) []string {
	local, domain, _ := strings.Cut(email, "@")
	untagged, _, _ := strings.Cut(local, "+")
	labels := strings.Split(domain, ".")
	var parts []string
	for _, part := range append([]string{local, untagged}, labels[:len(labels)-1]...) {
		if len(part) >= leastPart {
			parts = append(parts, part)
		}
	}
	return parts
}
