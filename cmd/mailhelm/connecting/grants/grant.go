package grants

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Grant is the access that a person granted, with what is needed to refresh and revoke it.
type Grant struct {
	Address          string    `json:"address"` // of the agent endpoint
	Issuer           string    `json:"issuer"`
	TokenEndpoint    string    `json:"token_endpoint"`
	RevokeEndpoint   string    `json:"revocation_endpoint,omitempty"`
	ClientID         string    `json:"client_id"`
	Resource         string    `json:"resource"`
	Scope            string    `json:"scope,omitempty"`
	AccessToken      string    `json:"access_token,omitempty"`
	AccessTokenUntil time.Time `json:"access_token_until,omitzero"`
	// RefreshToken is "" after the grant has ended. The client id stays, so that the client
	// need not register again.
	RefreshToken string `json:"refresh_token,omitempty"`
}

// Store keeps grants between runs of the program. Callers hold the lock of the address; see
// [Lock].
type Store interface {
	// Load returns the grant for an address. It fails with ErrNone if none is stored.
	Load(address string) (Grant, error)
	// Save stores a grant and replaces the previous one for its address.
	Save(g Grant) error
	// Delete removes the grant for an address. It returns nil if none is stored.
	Delete(address string) error
	// Where describes the place of the grant for an address, for messages.
	Where(address string) string
}

// ErrNone means that no grant is stored for the address.
var ErrNone = errors.New("no grant is stored")

// The kinds of stores that a person can choose.
const (
	Auto    = "auto"
	Keyring = "keyring"
	File    = "file"
)

// Open returns the store of this kind. folder is for files; it is created with mode 0700 if
// it is missing, and must not be open to other users. Auto uses the keyring if it works, and files otherwise.
func Open(kind, folder string) (Store, error) {
	if err := makeFolder(folder); err != nil {
		return nil, err
	}
	switch kind {
	case Keyring:
		return keyringStore{}, nil
	case File:
		return fileStore{folder}, nil
	case Auto:
		return autoStore{keyringStore{}, fileStore{folder}}, nil
	}
	return nil, fmt.Errorf("%q is not a kind of store", kind)
}

func decode(raw []byte) (Grant, error) {
	var g Grant
	if err := json.Unmarshal(raw, &g); err != nil {
		return Grant{}, fmt.Errorf("the stored grant is damaged: remove it with --sign-out: %w", err)
	}
	return g, nil
}
