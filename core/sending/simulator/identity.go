package simulator

import (
	"crypto/sha256"
	"encoding/base32"
	"strconv"
	"strings"
)

// tokensOfDomain is the number of DKIM tokens of a domain, as at SES. tokenLength is their
// length in characters.
const (
	tokensOfDomain = 3
	tokenLength    = 32
)

// dkimTokens returns the DKIM tokens of a domain, or nil for an email address. They are
// derived from the account id and the domain, so that they need not be stored.
func dkimTokens(accountID, identity string) []string {
	if strings.Contains(identity, "@") {
		return nil
	}
	tokens := make([]string, tokensOfDomain)
	for i := range tokens {
		sum := sha256.Sum256([]byte(accountID + " " + strings.ToLower(identity) + " " + strconv.Itoa(i)))
		tokens[i] = strings.ToLower(base32.StdEncoding.EncodeToString(sum[:]))[:tokenLength]
	}
	return tokens
}
