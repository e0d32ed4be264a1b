package standardhooks

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"strconv"
	"strings"
	"time"
)

// secretPrefix begins the text form of every secret.
const secretPrefix = "whsec_"

// The numbers of random bytes in a secret: of a new one, and the least and the most that
// receivers accept.
const (
	secretBytes    = 32
	minSecretBytes = 24
	maxSecretBytes = 64
)

// errSecret is the error for a text that is not a secret. It does not repeat the text.
var errSecret = errors.New("a webhook secret is whsec_ and the base64 of 24 to 64 bytes")

// NewSecret returns a new random secret in its text form: whsec_ and the base64 of 32
// bytes.
func NewSecret() string {
	raw := make([]byte, secretBytes)
	rand.Read(raw) // never returns an error
	return secretPrefix + base64.StdEncoding.EncodeToString(raw)
}

// keyOf returns the bytes of a secret in its text form. It fails for any other text.
func keyOf(secret string) ([]byte, error) {
	encoded, found := strings.CutPrefix(secret, secretPrefix)
	key, err := base64.StdEncoding.DecodeString(encoded)
	if !found || err != nil || len(key) < minSecretBytes || len(key) > maxSecretBytes {
		return nil, errSecret
	}
	return key, nil
}

// Sign returns the value of the header webhook-signature for a message with this id and
// body that is sent at the given time. It has one signature for each secret, in their order,
// separated by spaces. It fails for a text that is not a secret.
func Sign(id string, at time.Time, body []byte, secrets ...string) (string, error) {
	signatures := make([]string, len(secrets))
	for i, secret := range secrets {
		key, err := keyOf(secret)
		if err != nil {
			return "", err
		}
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(id + "." + strconv.FormatInt(at.Unix(), 10) + "."))
		mac.Write(body)
		signatures[i] = "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	}
	return strings.Join(signatures, " "), nil
}
