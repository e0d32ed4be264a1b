package access

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base32"
	"strings"

	"github.com/mailhelm/mailhelm/core"
)

// The markers that open every credential, so that a reader or a secret scanner
// knows what it found.
const (
	apiKeyLive   = "sk_live_"
	apiKeyTest   = "sk_test_"
	clientLive   = "oc_live_"
	clientTest   = "oc_test_"
	clientSecret = "ocs_"
	refreshToken = "ocr_"
)

const (
	secretBytes    = 32 // random bytes in a secret
	clientIDBytes  = 16 // random bytes in a client id, which is public
	secretLength   = 52 // 32 bytes in Base32 without padding
	prefixLength   = 8  // characters of an API key kept in plain text
	maxClientIDLen = 128
)

// Base32 (RFC 4648 section 6) survives HTTP Basic whether or not the client
// percent-encodes it first, and a double click selects all of it.
var encoding = base32.StdEncoding.WithPadding(base32.NoPadding)

// Minted is a secret at the moment it is made. Secret is shown once and never
// stored; Prefix and Hash are what the store keeps.
type Minted struct {
	Secret string
	Prefix string // the eight characters after the marker; "" for a client secret
	Hash   []byte // SHA-256 of Secret
}

// MintAPIKey makes the secret of an API key: the environment's marker and 32
// random bytes in Base32.
func MintAPIKey(env core.Environment) Minted {
	body := random(secretBytes)
	secret := byEnvironment(env, apiKeyLive, apiKeyTest) + body
	return Minted{Secret: secret, Prefix: body[:prefixLength], Hash: HashSecret(secret)}
}

// MintClientSecret makes the secret of a confidential OAuth client.
func MintClientSecret() Minted {
	secret := clientSecret + random(secretBytes)
	return Minted{Secret: secret, Hash: HashSecret(secret)}
}

// MintAuthorizationCode makes a code that a client redeems for tokens. Nothing
// marks it: it is worthless after a minute and without its verifier.
func MintAuthorizationCode() Minted {
	secret := random(secretBytes)
	return Minted{Secret: secret, Hash: HashSecret(secret)}
}

// MintLink makes the secret of a link or cookie that nothing marks: it is worth
// something at one page alone.
func MintLink() Minted {
	secret := random(secretBytes)
	return Minted{Secret: secret, Hash: HashSecret(secret)}
}

// IsLink reports whether s has the form of what [MintLink] makes.
func IsLink(s string) bool { return len(s) == secretLength && isBase32(s) }

// MintRefreshToken makes one generation of a grant's refresh token.
func MintRefreshToken() Minted {
	secret := refreshToken + random(secretBytes)
	return Minted{Secret: secret, Hash: HashSecret(secret)}
}

// IsRefreshToken reports whether s has the form of what [MintRefreshToken] makes.
func IsRefreshToken(s string) bool {
	body, ok := strings.CutPrefix(s, refreshToken)
	return ok && len(body) == secretLength && isBase32(body)
}

// MintClientID makes a public client id. Its marker tells the environment.
func MintClientID(env core.Environment) string {
	return byEnvironment(env, clientLive, clientTest) + random(clientIDBytes)
}

// KeyName is what an API key presented as a secret says about itself.
type KeyName struct {
	Environment core.Environment
	Prefix      string
}

// String is the identifying prefix that people see: sk_live_ABCDEFGH.
func (n KeyName) String() string {
	return byEnvironment(n.Environment, apiKeyLive, apiKeyTest) + n.Prefix
}

// ParseAPIKey reads the environment and the identifying prefix from an API key.
// It reports false for anything that [MintAPIKey] cannot have made, so that
// rubbish never reaches the store.
func ParseAPIKey(secret string) (KeyName, bool) {
	env := core.Live
	body, ok := strings.CutPrefix(secret, apiKeyLive)
	if !ok {
		env = core.Test
		body, ok = strings.CutPrefix(secret, apiKeyTest)
	}
	if !ok || len(body) != secretLength || !isBase32(body) {
		return KeyName{}, false
	}
	return KeyName{Environment: env, Prefix: body[:prefixLength]}, true
}

// LooksLikeAPIKey reports whether a credential is meant as an API key, whole or
// not. No access token begins this way.
func LooksLikeAPIKey(bearer string) bool { return strings.HasPrefix(bearer, "sk_") }

// IsClientID reports whether s has the form of a client id of ours: a marker and
// characters that need no escaping in HTTP Basic, at most 128 in all.
func IsClientID(s string) bool {
	if len(s) > maxClientIDLen || len(s) <= len(clientLive) {
		return false
	}
	if !strings.HasPrefix(s, clientLive) && !strings.HasPrefix(s, clientTest) {
		return false
	}
	for i := range len(s) {
		if !isPlainName(s[i]) {
			return false
		}
	}
	return true
}

// HashSecret is what the store keeps of a secret. A plain SHA-256 is enough
// because every secret carries 256 random bits; there is nothing to guess.
func HashSecret(secret string) []byte {
	sum := sha256.Sum256([]byte(secret))
	return sum[:]
}

// SecretMatches compares a presented secret with a stored hash in constant time.
// A hash of nil, which is a credential without a secret, matches nothing, and
// takes as long as one that differs.
func SecretMatches(hash []byte, secret string) bool {
	stored := noHash
	if len(hash) == sha256.Size {
		stored = [sha256.Size]byte(hash)
	}
	sum := sha256.Sum256([]byte(secret))
	equal := subtle.ConstantTimeCompare(stored[:], sum[:]) == 1
	return equal && len(hash) == sha256.Size
}

// noHash stands in for the hash of a credential that does not exist.
var noHash [sha256.Size]byte

func random(n int) string {
	raw := make([]byte, n)
	rand.Read(raw) // never returns an error
	return encoding.EncodeToString(raw)
}

func byEnvironment(env core.Environment, live, test string) string {
	if env == core.Live {
		return live
	}
	return test
}

func isBase32(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < 'A' || c > 'Z') && (c < '2' || c > '7') {
			return false
		}
	}
	return true
}

func isPlainName(c byte) bool {
	return c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}
