package passkey

import (
	"encoding/json"
	"fmt"

	"github.com/go-webauthn/webauthn/webauthn"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/people"
)

// person implements webauthn.User. The user handle that authenticators store is the user's
// id, which reveals no personal data.
type person struct {
	id          string
	user        access.User
	credentials []webauthn.Credential
}

func newPerson(id string, u access.User, existing []people.Passkey) (person, error) {
	p := person{id: id, user: u, credentials: make([]webauthn.Credential, len(existing))}
	for i, one := range existing {
		if err := json.Unmarshal([]byte(one.Credential), &p.credentials[i]); err != nil {
			return person{}, fmt.Errorf("stored passkey: %w", err)
		}
	}
	return p, nil
}

func (p person) WebAuthnID() []byte                         { return []byte(p.id) }
func (p person) WebAuthnName() string                       { return p.user.Email }
func (p person) WebAuthnDisplayName() string                { return p.user.Name }
func (p person) WebAuthnCredentials() []webauthn.Credential { return p.credentials }
