package site

import (
	"crypto/rand"
	"crypto/sha256"
	"time"
)

// KeyPrefix is the beginning of every site key.
const KeyPrefix = "pk_live_"

// keyLetters is the number of characters after the prefix.
const keyLetters = 32

// Grace is how long an earlier key stays valid after its rotation.
const Grace = 24 * time.Hour

// Key is a site key of an organization. It is publishable: it is part of public web pages and
// can only send beacons. So it is stored as it is.
type Key struct {
	Value     string
	CreatedAt time.Time
	// ExpiresAt is nil for the key in use, and the end of the grace period of an earlier key.
	ExpiresAt *time.Time
}

// Hash is the SHA-256 of a site key.
type Hash [sha256.Size]byte

// HashOf returns the hash of a site key.
func HashOf(key string) Hash { return sha256.Sum256([]byte(key)) }

// mintKey returns a new key with 165 random bits.
func mintKey() string {
	const alphabet = "abcdefghijklmnopqrstuvwxyz0123456789"
	const fair = 256 - 256%len(alphabet) // larger bytes would make some letters likelier
	letters := make([]byte, 0, keyLetters)
	random := make([]byte, keyLetters)
	for len(letters) < keyLetters {
		_, _ = rand.Read(random) // never fails; see crypto/rand
		for _, b := range random {
			if int(b) < fair && len(letters) < keyLetters {
				letters = append(letters, alphabet[int(b)%len(alphabet)])
			}
		}
	}
	return KeyPrefix + string(letters)
}
