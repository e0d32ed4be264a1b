package signing

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// AccessTokenLifetime is how long an access token is valid.
const AccessTokenLifetime = 900 * time.Second

const (
	signingAlgorithm = "ES256"
	signingPurpose   = "signing key"
)

// signingLag is how long after a key's retirement a process may still sign with the key,
// because it has not yet read the retirement. It is ten times the interval between two
// reads, because reads may fail.
const signingLag = 10 * ReloadEvery

// Overlap is how long after its retirement a key is published and its tokens are accepted.
// The last token may be issued signingLag after the retirement, and is then valid for
// AccessTokenLifetime.
const Overlap = AccessTokenLifetime + signingLag

// Keys has the decrypted signing keys of a process. They are a copy in memory, which Reload
// replaces. So verifying a signature does not wait for the store, except for an unknown key
// id. It is safe for use by several goroutines.
type Keys struct {
	store  Store
	master MasterKey
	clock  core.Clock
	ring   atomic.Pointer[keyRing]

	// asking is locked while a goroutine reads the store for an unknown key id.
	asking sync.Mutex
	asked  time.Time

	revoking sync.Mutex
	revoked  []func() // functions of OnRevoke, in order
}

// keyRing has the keys of the store as they were read. It is never changed.
type keyRing struct {
	byID    map[string]openKey
	ordered []openKey // newest first
}

type openKey struct {
	id        string
	private   *ecdsa.PrivateKey
	retiredAt *time.Time // the time until which the key signs, possibly in the future; nil if none is set
}

// PublicKey is the public part of a signing key, as the JWK set publishes it.
type PublicKey struct {
	ID  string // the JWK's kid
	Key *ecdsa.PublicKey
}

// NewKeys reads and decrypts the stored signing keys. If there is none, or if each has
// RetiredAt set, it creates a key. It fails if the stored keys were encrypted with another
// master key: other processes could not decrypt a key that this process creates.
func NewKeys(ctx context.Context, store Store, master MasterKey, clock core.Clock) (*Keys, error) {
	stored, err := store.SigningKeys(ctx)
	if err != nil {
		return nil, fmt.Errorf("read signing keys: %w", err)
	}
	if !anyInUse(stored) {
		if _, err := openKeys(stored, master); err != nil {
			return nil, err
		}
		first, err := newSigningKey(master, clock())
		if err != nil {
			return nil, err
		}
		// If another process has stored a key first, InsertSigningKey stores nothing. Reload
		// then reads the key of that process, and this process drops its own key.
		if _, err := store.InsertSigningKey(ctx, first); err != nil {
			return nil, fmt.Errorf("store signing key: %w", err)
		}
	}
	keys := &Keys{store: store, master: master, clock: clock}
	if err := keys.Reload(ctx); err != nil {
		return nil, err
	}
	return keys, nil
}

// CheckKeys fails if the master key does not decrypt one of the stored keys. Unlike
// [NewKeys] it creates no key.
func CheckKeys(stored []Key, master MasterKey) error {
	_, err := openKeys(stored, master)
	return err
}

func anyInUse(keys []Key) bool {
	for _, k := range keys {
		if k.RetiredAt == nil {
			return true
		}
	}
	return false
}

func newSigningKey(master MasterKey, now time.Time) (Key, error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Key{}, fmt.Errorf("make signing key: %w", err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return Key{}, fmt.Errorf("make signing key: %w", err)
	}
	key := Key{ID: core.NewID(), Algorithm: signingAlgorithm, CreatedAt: now}
	if key.Sealed, err = master.Seal(signingPurpose, key.ID, der); err != nil {
		return Key{}, fmt.Errorf("seal signing key: %w", err)
	}
	return key, nil
}

// openKeyRing decrypts the stored keys, which must be sorted newest first. It fails if
// there is no key without RetiredAt.
func openKeyRing(stored []Key, master MasterKey) (*keyRing, error) {
	if !anyInUse(stored) {
		return nil, errors.New("the store holds no signing key that is in use")
	}
	return openKeys(stored, master)
}

// openKeys decrypts the stored keys and keeps their order. It fails if the master key does
// not decrypt one of them.
func openKeys(stored []Key, master MasterKey) (*keyRing, error) {
	ring := &keyRing{byID: make(map[string]openKey, len(stored))}
	for _, s := range stored {
		private, err := openSigningKey(s, master)
		if err != nil {
			return nil, fmt.Errorf("signing key %s: %w", s.ID, err)
		}
		key := openKey{id: s.ID, private: private, retiredAt: s.RetiredAt}
		ring.byID[key.id] = key
		ring.ordered = append(ring.ordered, key)
	}
	return ring, nil
}

func openSigningKey(s Key, master MasterKey) (*ecdsa.PrivateKey, error) {
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

// Current returns the key id (kid) and the private key that sign new tokens: the oldest key
// that is not retired. A newer key is published but does not sign yet, so that all
// processes switch to it at the same time.
func (k *Keys) Current() (string, *ecdsa.PrivateKey) {
	now := k.clock()
	ring := k.ring.Load()
	current := ring.ordered[0]
	for _, key := range ring.ordered {
		if key.retiredAt == nil || now.Before(*key.retiredAt) {
			current = key
		}
	}
	return current.id, current.private
}

// PublicKeys returns the public keys to publish, newest first: the next key, the current
// key, and retired keys whose tokens may still be valid. A retired key is published for
// [Overlap].
func (k *Keys) PublicKeys() []PublicKey {
	now := k.clock()
	var published []PublicKey
	for _, key := range k.ring.Load().ordered {
		if key.serves(now) {
			published = append(published, PublicKey{ID: key.id, Key: &key.private.PublicKey})
		}
	}
	return published
}

// Public returns a published key by its key id (kid). For an unknown id, it reads the
// store, at most once a second, so that forged tokens cause no load.
func (k *Keys) Public(ctx context.Context, id string) (*ecdsa.PublicKey, bool) {
	key, ok := k.ring.Load().byID[id]
	if !ok && core.IsID(id) {
		key, ok = k.askFor(ctx, id)
	}
	if !ok || !key.serves(k.clock()) {
		return nil, false
	}
	return &key.private.PublicKey, true
}

func (key openKey) serves(now time.Time) bool {
	return key.retiredAt == nil || now.Before(key.retiredAt.Add(Overlap))
}
