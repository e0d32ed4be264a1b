package simulator

import (
	"crypto/sha256"
	"encoding/base32"
	"strconv"
	"strings"
)

// tokensOfDomain is how many DKIM tokens the provider makes for a domain, each of
// tokenLength letters and digits.
const (
	tokensOfDomain = 3
	tokenLength    = 32
)

// dkimTokens derives the tokens from the account and the domain, so that they need not
// be stored. An address has none.
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
