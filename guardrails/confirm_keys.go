package guardrails

import (
	"crypto/hkdf"
	"crypto/sha256"
	"errors"
	"time"
)

// ConfirmationSecretBytes is the length of [Config.ConfirmationSecret].
const ConfirmationSecretBytes = 32

// confirmationKey signs the confirmations of one day.
type confirmationKey struct {
	day    string // in UTC, 2006-01-02; it is the key's id
	secret []byte
}

var errNoConfirmationSecret = errors.New("guardrails: there is no secret to sign confirmations with")

// confirmationKeys returns two keys: the key of the day, which signs, and the key of the day
// before, which still verifies. A confirmation that was signed before midnight is valid for
// some minutes after it. The keys are derived for each call, so processes need not store,
// reload or exchange them.
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
