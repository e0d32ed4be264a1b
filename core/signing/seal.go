package signing

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
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
type MasterKey struct {
	aead cipher.AEAD
	// expand is HKDF with the key. The key is hidden in a closure, so that printing a
	// MasterKey shows only a pointer.
	expand func(purpose string, length int) ([]byte, error)
}

// NewMasterKey returns a MasterKey for 32 bytes. It fails for any other length.
func NewMasterKey(raw []byte) (MasterKey, error) {
	if len(raw) != masterKeyBytes {
		return MasterKey{}, fmt.Errorf("a master key has %d bytes, not %d", masterKeyBytes, len(raw))
	}
	block, err := aes.NewCipher(raw)
	if err != nil {
		return MasterKey{}, fmt.Errorf("master key: %w", err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return MasterKey{}, fmt.Errorf("master key: %w", err)
	}
	secret := bytes.Clone(raw)
	return MasterKey{aead: aead, expand: func(purpose string, length int) ([]byte, error) {
		return hkdf.Key(sha256.New, secret, nil, purpose, length)
	}}, nil
}

// Derive returns length bytes of key material for a purpose other than Seal: HKDF (RFC
// 5869) with SHA-256. The same master key and purpose always give the same bytes.
func (k MasterKey) Derive(purpose string, length int) ([]byte, error) {
	if k.expand == nil {
		return nil, errors.New("derive: no master key")
	}
	return k.expand(purpose, length)
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
	if k.aead == nil {
		return nil, errors.New("seal: no master key")
	}
	return k.aead.Seal([]byte{sealVersion}, nil, plain, additionalData(purpose, id)), nil
}

// Open decrypts a value that Seal returned. It fails if the key, the purpose or the id
// differs, or if the value was changed.
func (k MasterKey) Open(purpose, id string, sealed []byte) ([]byte, error) {
	if k.aead == nil || len(sealed) == 0 || sealed[0] != sealVersion {
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
