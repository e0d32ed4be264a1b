package privacy

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"

	"github.com/mailhelm/mailhelm/core"
)

const (
	// KeyPurpose is the purpose for which the key of a Hasher is derived from the master key.
	KeyPurpose = "mailhelm erased addresses 1"
	// KeyBytes is the length of that key.
	KeyBytes = 32
)

// Hasher computes the hashes of tombstones.
type Hasher struct{ key []byte }

// NewHasher returns a Hasher with a key of KeyBytes bytes.
func NewHasher(key []byte) Hasher { return Hasher{key} }

// Hash returns the HMAC-SHA-256 of an address in an organization. Without the key, a hash
// cannot be compared with addresses, and hashes of two organizations never match.
func (h Hasher) Hash(orgID, email string) []byte {
	mac := hmac.New(sha256.New, h.key)
	mac.Write([]byte(orgID + "\n" + core.EmailKey(email)))
	return mac.Sum(nil)
}

// Erased answers whether persons with the given addresses were erased.
type Erased struct {
	// Hasher returns the Hasher. It is called only if there are tombstones, so commands without
	// the master key work as long as no person was erased.
	Hasher func() (Hasher, error)
	Former Former
	Store  TombstoneStore
}

// Refusals returns, for the addresses that must get no mail and must not become contacts, the
// reason, by the address as it was given.
func (e Erased) Refusals(ctx context.Context, orgID string, emails []string) (map[string]Refusal, error) {
	found, err := e.tombstones(ctx, orgID, emails)
	if err != nil {
		return nil, err
	}
	refusals := map[string]Refusal{}
	for email, t := range found {
		if t.Refuses != Allowed {
			refusals[email] = t.Refuses
		}
	}
	return refusals, nil
}

// Addresses returns those of the addresses that must get no mail and must not become contacts.
func (e Erased) Addresses(ctx context.Context, orgID string, emails []string) (map[string]bool, error) {
	refusals, err := e.Refusals(ctx, orgID, emails)
	if err != nil || len(refusals) == 0 {
		return nil, err
	}
	erased := make(map[string]bool, len(refusals))
	for email := range refusals {
		erased[email] = true
	}
	return erased, nil
}

// Any reports whether an organization has erased a person. It lets callers with many addresses
// return before they collect them.
func (e Erased) Any(ctx context.Context, orgID string) (bool, error) {
	return e.Store.AnyTombstone(ctx, orgID)
}

// Known returns those of the addresses whose persons were erased, for any reason.
func (e Erased) Known(ctx context.Context, orgID string, emails []string) (map[string]bool, error) {
	found, err := e.tombstones(ctx, orgID, emails)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	known := make(map[string]bool, len(found))
	for email := range found {
		known[email] = true
	}
	return known, nil
}

// Pseudonym returns the address that replaces an erased person among the recipients of a
// message. It is the one that the message has already, so that events which arrive after the
// erasure count for the same recipient, or else a new one.
func (e Erased) Pseudonym(ctx context.Context, orgID, messageID string) (string, error) {
	known, err := e.Store.PseudonymIn(ctx, orgID, messageID)
	if err != nil || known != "" {
		return known, err
	}
	return NewPseudonym().Email, nil
}

// tombstones returns the tombstones of addresses by the address as it was given.
func (e Erased) tombstones(ctx context.Context, orgID string, emails []string) (map[string]Tombstone, error) {
	if len(emails) == 0 {
		return nil, nil
	}
	if exists, err := e.Store.AnyTombstone(ctx, orgID); err != nil || !exists {
		return nil, err
	}
	hasher, err := e.Hasher()
	if err != nil {
		return nil, err
	}
	hashers, err := e.Former.hashers(ctx, orgID, hasher)
	if err != nil {
		return nil, err
	}
	hashes := make([][]byte, 0, len(emails)*len(hashers))
	for _, email := range emails {
		for _, h := range hashers {
			hashes = append(hashes, h.Hash(orgID, email))
		}
	}
	stored, err := e.Store.TombstonesOf(ctx, orgID, hashes)
	if err != nil || len(stored) == 0 {
		return nil, err
	}
	byHash := make(map[string]Tombstone, len(stored))
	for _, t := range stored {
		byHash[string(t.Hash)] = t
	}
	found := map[string]Tombstone{}
	for i, hash := range hashes {
		// An own hash is newer, and stands before the former ones of the address.
		email := emails[i/len(hashers)]
		if t, ok := byHash[string(hash)]; ok && found[email].Refuses == Allowed {
			found[email] = t
		}
	}
	return found, nil
}
