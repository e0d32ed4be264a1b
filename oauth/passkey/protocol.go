package passkey

import (
	"encoding/json"
	"fmt"
	"net/url"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/people"
)

// Protocol creates options for passkeys of one site and verifies the responses.
type Protocol struct{ site *webauthn.WebAuthn }

var _ people.PasskeyProtocol = (*Protocol)(nil)

// IsSupported reports whether passkeys work for a site at appURL. WebAuthn allows a domain
// name or localhost as its host, but no IP address.
func IsSupported(appURL string) bool {
	u, err := url.Parse(appURL)
	return err == nil && protocol.ValidateRPID(u.Hostname()) == nil
}

// New returns the protocol for the site at appURL, which is an origin such as
// https://app.example.com. It fails if [IsSupported] is false for appURL.
func New(appURL string) (*Protocol, error) {
	u, err := url.Parse(appURL)
	if err != nil {
		return nil, fmt.Errorf("passkeys: %w", err)
	}
	site, err := webauthn.New(&webauthn.Config{
		RPID: u.Hostname(), RPDisplayName: "Mailhelm", RPOrigins: []string{appURL},
		AttestationPreference: protocol.PreferNoAttestation,
		AuthenticatorSelection: protocol.AuthenticatorSelection{
			RequireResidentKey: protocol.ResidentKeyRequired(), ResidentKey: protocol.ResidentKeyRequirementRequired,
			UserVerification: protocol.VerificationRequired,
		},
	})
	if err != nil {
		return nil, fmt.Errorf("passkeys: %w", err)
	}
	return &Protocol{site: site}, nil
}

// Register returns the options for creating a passkey, and the state that
// VerifyRegistration needs. The options exclude authenticators that already hold a passkey
// of the user.
func (p *Protocol) Register(u access.User, existing []people.Passkey) (string, string, error) {
	who, err := newPerson(u.ID, u, existing)
	if err != nil {
		return "", "", err
	}
	options, memory, err := p.site.BeginRegistration(who, webauthn.WithExclusions(webauthn.Credentials(who.credentials).CredentialDescriptors()))
	if err != nil {
		return "", "", err
	}
	return encodeCeremony(options, memory)
}

// VerifyRegistration verifies an authenticator's response to the options of Register and
// returns the new passkey. memory is the state that Register returned.
func (p *Protocol) VerifyRegistration(u access.User, memory, answer string) (people.JudgedPasskey, error) {
	var session webauthn.SessionData
	if err := json.Unmarshal([]byte(memory), &session); err != nil {
		return people.JudgedPasskey{}, err
	}
	parsed, err := protocol.ParseCredentialCreationResponseBytes([]byte(answer))
	if err != nil {
		return people.JudgedPasskey{}, err
	}
	who, err := newPerson(u.ID, u, nil)
	if err != nil {
		return people.JudgedPasskey{}, err
	}
	return judgeCredential(p.site.CreateCredential(who, session, parsed))
}

// Ask returns the options with which a browser requests a proof of one of the existing
// passkeys, and the state that VerifyAnswer needs. If userID is "", any passkey of this
// site may answer.
func (p *Protocol) Ask(userID string, existing []people.Passkey) (string, string, error) {
	if userID == "" {
		options, memory, err := p.site.BeginDiscoverableLogin()
		if err != nil {
			return "", "", err
		}
		return encodeCeremony(options, memory)
	}
	who, err := newPerson(userID, access.User{}, existing)
	if err != nil {
		return "", "", err
	}
	options, memory, err := p.site.BeginLogin(who)
	if err != nil {
		return "", "", err
	}
	return encodeCeremony(options, memory)
}

// VerifyAnswer verifies an authenticator's response to the options of Ask. memory is the
// state that Ask returned. owner receives the credential id in the response, and returns
// the id of the user who has this credential and all passkeys of this user.
func (p *Protocol) VerifyAnswer(memory, answer string, owner func([]byte) (string, []people.Passkey, error)) (people.JudgedPasskey, error) {
	var session webauthn.SessionData
	if err := json.Unmarshal([]byte(memory), &session); err != nil {
		return people.JudgedPasskey{}, err
	}
	parsed, err := protocol.ParseCredentialRequestResponseBytes([]byte(answer))
	if err != nil {
		return people.JudgedPasskey{}, err
	}
	userID, existing, err := owner(parsed.RawID)
	if err != nil {
		return people.JudgedPasskey{}, err
	}
	who, err := newPerson(userID, access.User{}, existing)
	if err != nil {
		return people.JudgedPasskey{}, err
	}
	if len(session.UserID) > 0 {
		return judgeCredential(p.site.ValidateLogin(who, session, parsed))
	}
	find := func(_, _ []byte) (webauthn.User, error) { return who, nil }
	return judgeCredential(p.site.ValidateDiscoverableLogin(find, session, parsed))
}

// encodeCeremony returns two JSON texts: the options that the browser receives, and the
// data that the server keeps until the browser answers.
func encodeCeremony(options, memory any) (string, string, error) {
	question, err := json.Marshal(options)
	if err != nil {
		return "", "", err
	}
	kept, err := json.Marshal(memory)
	return string(question), string(kept), err
}

// judgeCredential returns a verified passkey in the form in which it is stored. Cloned is
// true if the signature counter indicates a copied authenticator.
func judgeCredential(c *webauthn.Credential, err error) (people.JudgedPasskey, error) {
	if err != nil {
		return people.JudgedPasskey{}, err
	}
	kept, err := json.Marshal(c)
	return people.JudgedPasskey{CredentialID: c.ID, Credential: string(kept), Cloned: c.Authenticator.CloneWarning}, err
}
