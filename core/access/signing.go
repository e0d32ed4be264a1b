package access

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"errors"
	"fmt"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// AccessTokenLifetime is how long an access token is good for.
const AccessTokenLifetime = 900 * time.Second

const (
	signingAlgorithm = "ES256"
	signingPurpose   = "signing key"
)

// SigningKeys holds the keys that sign access tokens, opened. It is read from the
// store once and does not change, so that a check of a signature never waits for
// anything; it is safe for use by several goroutines.
type SigningKeys struct {
	clock   core.Clock
	current openKey
	byID    map[string]openKey
	ordered []openKey
}

type openKey struct {
	id        string
	private   *ecdsa.PrivateKey
	retiredAt *time.Time
}

// PublicKey is a signing key as the key set publishes it.
type PublicKey struct {
	ID  string // the JWK's kid
	Key *ecdsa.PublicKey
}

// NewSigningKeys opens the stored signing keys, and makes the first one when
// none is in use. It fails when the master key is not the one they were sealed
// with: going on with a fresh key would cut off every other process.
func NewSigningKeys(ctx context.Context, store Store, master MasterKey, clock core.Clock) (*SigningKeys, error) {
	stored, err := store.SigningKeys(ctx)
	if err != nil {
		return nil, fmt.Errorf("read signing keys: %w", err)
	}
	if !anyInUse(stored) {
		if err := insertSigningKey(ctx, store, master, clock()); err != nil {
			return nil, err
		}
		if stored, err = store.SigningKeys(ctx); err != nil {
			return nil, fmt.Errorf("read signing keys: %w", err)
		}
	}
	return openSigningKeys(stored, master, clock)
}

func anyInUse(keys []SigningKey) bool {
	for _, k := range keys {
		if k.RetiredAt == nil {
			return true
		}
	}
	return false
}

// insertSigningKey makes a key and offers it to the store. Another process may
// have been faster; then the store keeps that one and this one is forgotten.
func insertSigningKey(ctx context.Context, store Store, master MasterKey, now time.Time) error {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return fmt.Errorf("make signing key: %w", err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return fmt.Errorf("make signing key: %w", err)
	}
	key := SigningKey{ID: core.NewID(), Algorithm: signingAlgorithm, CreatedAt: now}
	if key.Sealed, err = master.Seal(signingPurpose, key.ID, der); err != nil {
		return fmt.Errorf("seal signing key: %w", err)
	}
	if _, err = store.InsertSigningKey(ctx, key); err != nil {
		return fmt.Errorf("store signing key: %w", err)
	}
	return nil
}

// openSigningKeys expects the newest key first; the newest in use signs.
func openSigningKeys(stored []SigningKey, master MasterKey, clock core.Clock) (*SigningKeys, error) {
	keys := &SigningKeys{clock: clock, byID: make(map[string]openKey, len(stored))}
	for _, s := range stored {
		private, err := openSigningKey(s, master)
		if err != nil {
			return nil, fmt.Errorf("signing key %s: %w", s.ID, err)
		}
		key := openKey{id: s.ID, private: private, retiredAt: s.RetiredAt}
		keys.byID[key.id] = key
		keys.ordered = append(keys.ordered, key)
		if keys.current.private == nil && s.RetiredAt == nil {
			keys.current = key
		}
	}
	if keys.current.private == nil {
		return nil, errors.New("the store holds no signing key that is in use")
	}
	return keys, nil
}

func openSigningKey(s SigningKey, master MasterKey) (*ecdsa.PrivateKey, error) {
	if s.Algorithm != signingAlgorithm {
		return nil, fmt.Errorf("algorithm %q is not known", s.Algorithm)
	}
	der, err := master.Open(signingPurpose, s.ID, s.Sealed)
	if err != nil {
		return nil, err
	}
	parsed, err := x509.ParsePKCS8PrivateKey(der)
	if err != nil {
		return nil, err
	}
	private, ok := parsed.(*ecdsa.PrivateKey)
	if !ok || private.Curve != elliptic.P256() {
		return nil, errors.New("not a P-256 key")
	}
	return private, nil
}

// Current is the key that signs new tokens, with its kid.
func (k *SigningKeys) Current() (string, *ecdsa.PrivateKey) {
	return k.current.id, k.current.private
}

// Published lists the public keys that a token in circulation may be signed
// with, newest first. A retired key stays for one token lifetime.
func (k *SigningKeys) Published() []PublicKey {
	now := k.clock()
	var published []PublicKey
	for _, key := range k.ordered {
		if key.serves(now) {
			published = append(published, PublicKey{ID: key.id, Key: &key.private.PublicKey})
		}
	}
	return published
}

// Public finds a published key by its kid.
func (k *SigningKeys) Public(id string) (*ecdsa.PublicKey, bool) {
	key, ok := k.byID[id]
	if !ok || !key.serves(k.clock()) {
		return nil, false
	}
	return &key.private.PublicKey, true
}

func (key openKey) serves(now time.Time) bool {
	return key.retiredAt == nil || now.Before(key.retiredAt.Add(AccessTokenLifetime))
}
