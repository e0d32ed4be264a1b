package grants

import (
	"encoding/json"
	"errors"

	"github.com/zalando/go-keyring"
)

// service is the name of Mailhelm's entries in a keyring. The user name of an entry is the
// address of the agent endpoint.
const service = "mailhelm"

// keyringStore stores grants in the keyring of the operating system: Keychain, Credential
// Manager, or the Secret Service of a Linux desktop.
type keyringStore struct{}

// Load implements [Store].
func (keyringStore) Load(address string) (Grant, error) {
	raw, err := keyring.Get(service, address)
	if errors.Is(err, keyring.ErrNotFound) {
		return Grant{}, ErrNone
	}
	if err != nil {
		return Grant{}, err
	}
	return decode([]byte(raw))
}

// Save implements [Store]. Some keyrings take only about 2,500 bytes. If the grant is longer,
// Save leaves out the access token, which can be requested again.
func (keyringStore) Save(g Grant) error {
	err := setGrant(g)
	if errors.Is(err, keyring.ErrSetDataTooBig) {
		g.AccessToken = ""
		err = setGrant(g)
	}
	return err
}

func setGrant(g Grant) error {
	raw, err := json.Marshal(g) //nolint:gosec // the keyring protects it
	if err != nil {
		return err
	}
	return keyring.Set(service, g.Address, string(raw))
}

// Delete implements [Store].
func (keyringStore) Delete(address string) error {
	err := keyring.Delete(service, address)
	if errors.Is(err, keyring.ErrNotFound) {
		return nil
	}
	return err
}

// Where implements [Store].
func (keyringStore) Where(string) string { return "the keyring of the operating system" }
