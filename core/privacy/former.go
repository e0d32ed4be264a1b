package privacy

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// FormerKey is a key of hashes of tombstones that an organization brought from another installation.
type FormerKey struct {
	ID string
	// Sealed is the key, encrypted with the master key.
	Sealed []byte
}

// Sealer encrypts values with the master key; signing.MasterKey is one.
type Sealer interface {
	Seal(purpose, id string, plain []byte) ([]byte, error)
	Open(purpose, id string, sealed []byte) ([]byte, error)
}

// formerPurpose is the purpose with which former keys are sealed.
const formerPurpose = "former key of erased addresses"

// SealFormerKey encrypts a key that an organization brings from another installation.
func SealFormerKey(s Sealer, orgID string, key []byte) (FormerKey, error) {
	if len(key) != KeyBytes {
		return FormerKey{}, fmt.Errorf("privacy: a key of erased addresses has %d bytes, not %d", len(key), KeyBytes)
	}
	sum := sha256.Sum256(key)
	id := hex.EncodeToString(sum[:8])
	sealed, err := s.Seal(formerPurpose, orgID+"/"+id, key)
	return FormerKey{ID: id, Sealed: sealed}, err
}

// OpenFormerKey returns the Hasher of a former key.
func OpenFormerKey(s Sealer, orgID string, k FormerKey) (Hasher, error) {
	key, err := s.Open(formerPurpose, orgID+"/"+k.ID, k.Sealed)
	if err != nil {
		return Hasher{}, fmt.Errorf("former key of erased addresses: %w", err)
	}
	return NewHasher(key), nil
}

// Former returns the hashers with the former keys of an organization. It is nil where organizations
// never have any.
type Former func(ctx context.Context, orgID string) ([]Hasher, error)

// hashers returns the hashers with which an address of an organization may have been hashed, the
// installation's own first.
func (f Former) hashers(ctx context.Context, orgID string, own Hasher) ([]Hasher, error) {
	all := []Hasher{own}
	if f == nil {
		return all, nil
	}
	former, err := f(ctx, orgID)
	return append(all, former...), err
}
