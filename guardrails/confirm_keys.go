package guardrails

import (
	"crypto/hkdf"
	"crypto/sha256"
	"errors"
	"time"
)

// ConfirmationSecretBytes is the required length of [Config.ConfirmationSecret].
const ConfirmationSecretBytes = 32

// confirmationKey is the key that signs the confirmations of one day.
type confirmationKey struct {
	day    string // UTC date such as 2006-01-02, which is the key's id
	secret []byte
}

var errNoConfirmationSecret = errors.New("guardrails: there is no secret to sign confirmations with")

// confirmationKeys returns today's key, which signs, and yesterday's key, which only
// verifies. A confirmation that was signed before midnight is valid for some minutes after
// it. The keys are derived from the secret for each call, so that processes need not store
// or exchange them. It fails if the secret does not have 32 bytes.
func (g *Guard) confirmationKeys(now time.Time) ([2]confirmationKey, error) {
	var keys [2]confirmationKey
	if len(g.ConfirmationSecret) != ConfirmationSecretBytes {
		return keys, errNoConfirmationSecret
	}
	now = now.UTC()
	for i := range keys {
		day := now.AddDate(0, 0, -i).Format(time.DateOnly)
		secret, err := hkdf.Expand(sha256.New, g.ConfirmationSecret, "mailhelm confirmations of "+day, sha256.Size)
		if err != nil {
			return keys, err
		}
		keys[i] = confirmationKey{day: day, secret: secret}
	}
	return keys, nil
}
