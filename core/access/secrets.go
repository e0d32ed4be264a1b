package access

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base32"
	"strings"

	"github.com/mailhelm/mailhelm/core"
)

// The prefixes of credentials, by kind. People and secret scanners recognize credentials by
// them.
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
	secretLength   = 52 // number of characters of 32 bytes in Base32 without padding
	prefixLength   = 8  // length of [APIKey].Prefix, in characters
	maxClientIDLen = 128
)

// encoding is Base32 (RFC 4648 section 6). Its text needs no escaping in HTTP Basic, and a
// double click selects all of it.
var encoding = base32.StdEncoding.WithPadding(base32.NoPadding)

// Minted is a new secret. Secret is shown once and not stored; Prefix and Hash are stored.
type Minted struct {
	Secret string
	Prefix string // the eight characters after sk_live_ or sk_test_; "" for any other secret
	Hash   []byte // SHA-256 of Secret
}

// MintAPIKey returns a new secret of an API key: sk_live_ or sk_test_, then 32 random bytes
// in Base32.
func MintAPIKey(env core.Environment) Minted {
	body := random(secretBytes)
	secret := chooseByEnvironment(env, apiKeyLive, apiKeyTest) + body
	return Minted{Secret: secret, Prefix: body[:prefixLength], Hash: HashSecret(secret)}
}

// MintClientSecret returns a new secret of a confidential OAuth client.
func MintClientSecret() Minted {
	secret := clientSecret + random(secretBytes)
	return Minted{Secret: secret, Hash: HashSecret(secret)}
}

// MintAuthorizationCode returns a new authorization code. Unlike API keys it has no prefix
// such as sk_live_, because it expires after a minute and is useless without its PKCE
// verifier.
func MintAuthorizationCode() Minted {
	secret := random(secretBytes)
	return Minted{Secret: secret, Hash: HashSecret(secret)}
}

// MintLink returns a new secret for a link in a mail or for a cookie. It has no prefix by
// which people and secret scanners could recognize it, because only one page accepts it.
func MintLink() Minted {
	secret := random(secretBytes)
	return Minted{Secret: secret, Hash: HashSecret(secret)}
}

// IsLink reports whether s has the form of a secret made by [MintLink].
func IsLink(s string) bool { return len(s) == secretLength && isBase32(s) }

// MintRefreshToken returns a new refresh token of a grant.
func MintRefreshToken() Minted {
	secret := refreshToken + random(secretBytes)
	return Minted{Secret: secret, Hash: HashSecret(secret)}
}

// IsRefreshToken reports whether s has the form of a secret made by [MintRefreshToken].
func IsRefreshToken(s string) bool {
	body, ok := strings.CutPrefix(s, refreshToken)
	return ok && len(body) == secretLength && isBase32(body)
}

// MintClientID returns a new public client id, which begins with oc_live_ or oc_test_.
func MintClientID(env core.Environment) string {
	return chooseByEnvironment(env, clientLive, clientTest) + random(clientIDBytes)
}

// KeyName is the public part of an API key: sk_live_ or sk_test_, and eight characters.
type KeyName struct {
	Environment core.Environment
	Prefix      string
}

// String returns the form in which people see the key: sk_live_ABCDEFGH.
func (n KeyName) String() string {
	return chooseByEnvironment(n.Environment, apiKeyLive, apiKeyTest) + n.Prefix
}

// ParseAPIKey returns the environment and prefix of an API key. It returns false for a text
// that [MintAPIKey] cannot have made, so that such a text never reaches the store.
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

// LooksLikeAPIKey reports whether a credential begins with sk_, like every API key. No
// access token begins this way.
func LooksLikeAPIKey(bearer string) bool { return strings.HasPrefix(bearer, "sk_") }

// IsClientID reports whether s has the form of an id made by [MintClientID]: oc_live_ or
// oc_test_, then characters that need no escaping in HTTP Basic, at most 128 in all.
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

// HashSecret returns the SHA-256 hash of a secret. The hash is stored instead of the
// secret. No slower hash is needed, because secrets are random: they have 256 random bits,
// recovery codes 80.
func HashSecret(secret string) []byte {
	sum := sha256.Sum256([]byte(secret))
	return sum[:]
}

// Proof is the SHA-256 hash of a bearer credential. Caches use it as a key.
type Proof [sha256.Size]byte

// ProofOf returns the SHA-256 hash of a bearer credential; see [Proof].
func ProofOf(bearer string) Proof { return sha256.Sum256([]byte(bearer)) }

// SecretMatches reports, in constant time, whether the hash is that of the secret. A nil
// hash, of a credential without a secret, matches no secret and takes the same time.
func SecretMatches(hash []byte, secret string) bool {
	stored := noHash
	if len(hash) == sha256.Size {
		stored = [sha256.Size]byte(hash)
	}
	sum := sha256.Sum256([]byte(secret))
	equal := subtle.ConstantTimeCompare(stored[:], sum[:]) == 1
	return equal && len(hash) == sha256.Size
}

// noHash is compared with the secret of a credential that has no hash. So the comparison
// takes as long as for a credential with a hash.
var noHash [sha256.Size]byte

func random(n int) string {
	raw := make([]byte, n)
	rand.Read(raw) // never returns an error
	return encoding.EncodeToString(raw)
}

func chooseByEnvironment(env core.Environment, live, test string) string {
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
