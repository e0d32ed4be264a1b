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

// AccessTokenLifetime is how long an access token is accepted.
const AccessTokenLifetime = 900 * time.Second

const (
	signingAlgorithm = "ES256"
	signingPurpose   = "signing key"
)

// signingLag is how long after its retirement a key may still sign in some process. That
// happens when reads of the keys fail, or after a rotation without notice. It allows for ten
// failed reads.
const signingLag = 10 * ReloadEvery

// Overlap is how long after its retirement a key is published and its tokens are accepted.
// Its last token may be issued signingLag after the retirement, and is valid for a token's
// lifetime.
const Overlap = AccessTokenLifetime + signingLag

// Keys has the decrypted signing keys of a process. It is a snapshot that Reload replaces.
// So verifying a signature does not wait, except for a key id that is not in the snapshot.
// It is safe for use by several goroutines.
type Keys struct {
	store  Store
	master MasterKey
	clock  core.Clock
	ring   atomic.Pointer[keyRing]

	// asking is locked by the goroutine that searches for an unknown key id.
	asking sync.Mutex
	asked  time.Time

	revoking sync.Mutex
	revoked  []func() // what is done, in this order, when a key was revoked
}

// keyRing is the content of the store when it was read. It does not change.
type keyRing struct {
	byID    map[string]openKey
	ordered []openKey // newest first
}

type openKey struct {
	id        string
	private   *ecdsa.PrivateKey
	retiredAt *time.Time // may lie ahead
}

// PublicKey is a signing key as the key set publishes it.
type PublicKey struct {
	ID  string // the JWK's kid
	Key *ecdsa.PublicKey
}

// NewKeys decrypts the stored signing keys, and creates the first one when none is in use.
// It fails when they were encrypted with another master key. A new key would then be
// unreadable for all other processes.
func NewKeys(ctx context.Context, store Store, master MasterKey, clock core.Clock) (*Keys, error) {
	stored, err := store.SigningKeys(ctx)
	if err != nil {
		return nil, fmt.Errorf("read signing keys: %w", err)
	}
	if !anyInUse(stored) {
		first, err := newSigningKey(master, clock())
		if err != nil {
			return nil, err
		}
		// Another process may have been faster. Then the store keeps its key, and this
		// one is dropped.
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

// openKeyRing decrypts keys, which must be sorted newest first. It fails when no key is in
// use.
func openKeyRing(stored []Key, master MasterKey) (*keyRing, error) {
	if !anyInUse(stored) {
		return nil, errors.New("the store holds no signing key that is in use")
	}
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

// Current returns the key that signs new tokens, with its kid. It is the oldest one that is
// not retired. A newer key is published and does not sign yet, so that all processes change
// keys at the same time.
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

// PublicKeys returns the public keys of valid tokens and of the next key, newest first. A
// retired key stays for [Overlap].
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

// Public returns a published key by its kid. For an unknown kid it reads the store, at
// most once a second, so that forged tokens cause no load.
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
