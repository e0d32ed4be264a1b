package signing

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// sealingKey is one master key.
type sealingKey struct {
	id   string
	raw  []byte
	aead cipher.AEAD
	// root is the source of keys that are derived from this key: the key of HKDF-Expand.
	root []byte
}

// keyIDPurpose and keyIDBytes define the id of a master key, which is derived from the key and
// does not reveal it.
const (
	keyIDPurpose = "mailhelm master key id 1"
	keyIDBytes   = 8
)

func newSealingKey(raw []byte) (*sealingKey, error) {
	if len(raw) != masterKeyBytes {
		return nil, fmt.Errorf("a master key has %d bytes, not %d", masterKeyBytes, len(raw))
	}
	block, err := aes.NewCipher(raw)
	if err != nil {
		return nil, fmt.Errorf("master key: %w", err)
	}
	k := &sealingKey{raw: bytes.Clone(raw)}
	if k.aead, err = cipher.NewGCMWithRandomNonce(block); err != nil {
		return nil, fmt.Errorf("master key: %w", err)
	}
	if k.root, err = hkdf.Extract(sha256.New, k.raw, nil); err != nil {
		return nil, fmt.Errorf("master key: %w", err)
	}
	id, err := hkdf.Expand(sha256.New, k.root, keyIDPurpose, keyIDBytes)
	if err != nil {
		return nil, fmt.Errorf("master key: %w", err)
	}
	k.id = hex.EncodeToString(id)
	return k, nil
}

func (k *sealingKey) seal(purpose, id string, plain []byte) []byte {
	return k.aead.Seal([]byte{sealVersion}, nil, plain, additionalData(purpose, id))
}

func (k *sealingKey) open(purpose, id string, sealed []byte) ([]byte, error) {
	if len(sealed) == 0 || sealed[0] != sealVersion {
		return nil, errSealed
	}
	plain, err := k.aead.Open(nil, nil, sealed[1:], additionalData(purpose, id))
	if err != nil {
		return nil, errSealed
	}
	return plain, nil
}

// additionalData returns the data that AES-GCM authenticates with a value: purpose and id,
// separated by NUL. Neither contains a NUL, so different pairs give different bytes.
func additionalData(purpose, id string) []byte {
	return []byte(purpose + "\x00" + id)
}

// sealingRing is the keys that a process knows: the one that seals new values, those that open
// stored ones, and the source of derived keys. It is never changed.
type sealingRing struct {
	seals *sealingKey
	opens []*sealingKey
	root  []byte
}

func (r *sealingRing) open(purpose, id string, sealed []byte) ([]byte, error) {
	for _, key := range r.opens {
		if plain, err := key.open(purpose, id, sealed); err == nil {
			return plain, nil
		}
	}
	return nil, errSealed
}

// lookAgain is how long a process does not look for a new master key after it has looked.
const lookAgain = time.Second

// lookTimeout bounds how long a look may take.
const lookTimeout = 3 * time.Second

// masterKeys is what the copies of a MasterKey share.
type masterKeys struct {
	own  *sealingKey // the configured key
	ring atomic.Pointer[sealingRing]

	mu     sync.Mutex
	reload func() error // nil before Follow
	looked time.Time
	now    func() time.Time
}

// look reads the keys again because a value does not open. It reads successfully at most once a
// second, so that damaged values cost little.
func (m *masterKeys) look() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.reload == nil || !m.looked.IsZero() && m.now().Sub(m.looked) < lookAgain {
		return
	}
	if m.reload() == nil {
		m.looked = m.now()
	}
}
