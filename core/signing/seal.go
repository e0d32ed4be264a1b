package signing

import (
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

const masterKeyBytes = 32

// sealVersion is the first byte of every encrypted value. If the format of encrypted values
// changes, the new format will have another first byte.
const sealVersion = 1

// errSealed is the error for every value that cannot be decrypted. AES-GCM does not say
// whether the key, the purpose, the id or the bytes are wrong.
var errSealed = errors.New("the value does not open: it was sealed with another master key or has been changed")

// MasterKey encrypts values before they are stored, so that a copy of the database does not
// reveal them. It is safe for use by several goroutines. The zero MasterKey cannot encrypt.
// Copies share what [MasterKey.Load] changes.
type MasterKey struct {
	// keys is a pointer, so that printing a MasterKey shows no key.
	keys *masterKeys
}

// NewMasterKey returns a MasterKey for 32 bytes. It fails for any other length.
func NewMasterKey(raw []byte) (MasterKey, error) {
	own, err := newSealingKey(raw)
	if err != nil {
		return MasterKey{}, err
	}
	k := MasterKey{&masterKeys{own: own}}
	k.keys.ring.Store(&sealingRing{seals: own, opens: []*sealingKey{own}, root: own.root})
	return k, nil
}

// Derive returns length bytes of key material for a purpose other than Seal: HKDF (RFC
// 5869) with SHA-256. The same installation and purpose always give the same bytes, also after
// the master key was replaced; see [Succession].
func (k MasterKey) Derive(purpose string, length int) ([]byte, error) {
	if k.keys == nil {
		return nil, errors.New("derive: no master key")
	}
	return hkdf.Expand(sha256.New, k.keys.ring.Load().root, purpose, length)
}

// ParseMasterKey parses a master key: 64 hexadecimal digits. It ignores white space around
// them. The text never appears in an error.
func ParseMasterKey(text string) (MasterKey, error) {
	raw, err := hex.DecodeString(strings.TrimSpace(text))
	if err != nil {
		return MasterKey{}, errors.New("a master key is written as 64 hexadecimal digits")
	}
	return NewMasterKey(raw)
}

// LoadMasterKey reads the master key from a file. If the file does not exist, it creates
// one with a new key and mode 0600; concurrent processes get the same key. It fails for a
// file that other users may read.
func LoadMasterKey(path string) (MasterKey, error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		if err := createMasterKey(path); err != nil {
			return MasterKey{}, fmt.Errorf("create master key file: %w", err)
		}
	}
	return ReadMasterKey(path)
}

// ReadMasterKey reads the master key from a file. It fails for a file that other users may
// read, and with fs.ErrNotExist for a missing one.
func ReadMasterKey(path string) (MasterKey, error) {
	info, err := os.Stat(path)
	if err != nil {
		return MasterKey{}, fmt.Errorf("master key file: %w", err)
	}
	// Windows has no permission bits for other users; its files inherit the access list of
	// the folder.
	if mode := info.Mode().Perm(); runtime.GOOS != "windows" && mode&0o077 != 0 {
		return MasterKey{}, fmt.Errorf("master key file %s has mode %04o, so other users may read it: set it to 0600", path, mode)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return MasterKey{}, fmt.Errorf("master key file: %w", err)
	}
	key, err := ParseMasterKey(string(text))
	if err != nil {
		return MasterKey{}, fmt.Errorf("master key file %s: %w", path, err)
	}
	return key, nil
}

// createMasterKey writes a new key to a temporary file and links it to path. If path
// exists, the existing file stays. So another process never reads an incomplete key.
func createMasterKey(path string) error {
	raw := make([]byte, masterKeyBytes)
	rand.Read(raw) // never returns an error
	temp, err := os.CreateTemp(filepath.Dir(path), ".master-key-*")
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name()) //nolint:errcheck // a leftover harms nothing
	_, err = temp.WriteString(hex.EncodeToString(raw) + "\n")
	if err = errors.Join(err, temp.Sync(), temp.Close()); err != nil {
		return err
	}
	if err = os.Link(temp.Name(), path); errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// Seal encrypts plain with AES-256-GCM. The purpose, such as "signing key", and the id of
// the row are authenticated: a value that was copied to another row cannot be decrypted.
func (k MasterKey) Seal(purpose, id string, plain []byte) ([]byte, error) {
	if k.keys == nil {
		return nil, errors.New("seal: no master key")
	}
	return k.keys.ring.Load().seals.seal(purpose, id, plain), nil
}

// Open decrypts a value that Seal returned. It fails if the key, the purpose or the id
// differs, or if the value was changed. If no known key opens the value, and [MasterKey.Follow]
// was called, it first looks for a new master key in the store.
func (k MasterKey) Open(purpose, id string, sealed []byte) ([]byte, error) {
	if k.keys == nil {
		return nil, errSealed
	}
	known := k.keys.ring.Load()
	plain, err := known.open(purpose, id, sealed)
	if err == nil {
		return plain, nil
	}
	k.keys.look()
	// Another goroutine may have looked in the meantime.
	if now := k.keys.ring.Load(); now != known {
		return now.open(purpose, id, sealed)
	}
	return nil, err
}
