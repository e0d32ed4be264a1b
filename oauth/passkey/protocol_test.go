package passkey_test

import (
	"strings"
	"testing"

	"github.com/descope/virtualwebauthn"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/oauth/passkey"
)

func TestOffered(t *testing.T) {
	t.Parallel()
	for origin, want := range map[string]bool{
		"https://app.example.com": true, "http://localhost:8081": true, "https://app.example.com:8443": true,
		"http://127.0.0.1:8081": false, "https://[::1]:8081": false, "http://192.0.2.7": false, "://": false,
	} {
		if got := passkey.IsSupported(origin); got != want {
			t.Errorf("%s: %v", origin, got)
		}
	}
}

const origin = "https://app.example.com:8443"

// newKey returns a passkey credential whose public key has no coordinate with a leading
// zero byte. The virtual authenticator would omit that byte and so make the key invalid.
func newKey() virtualwebauthn.Credential {
	const whole = 77 // length of an encoded public key if no leading zero is omitted
	for {
		key := virtualwebauthn.NewCredential(virtualwebauthn.KeyTypeEC2)
		if len(key.Key.AttestationData()) == whole {
			return key
		}
	}
}

// register creates a passkey for the user. It returns the authenticator, its credential and
// the passkey as stored.
func register(t *testing.T, p *passkey.Protocol, u access.User) (virtualwebauthn.Authenticator, virtualwebauthn.Credential, people.Passkey) {
	t.Helper()
	options, memory, err := p.Register(u, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"residentKey":"required"`, `"userVerification":"required"`, `"attestation":"none"`, `"id":"app.example.com"`} {
		if !strings.Contains(options, want) {
			t.Errorf("%s is not asked: %s", want, options)
		}
	}
	creation, err := virtualwebauthn.ParseAttestationOptions(options)
	if err != nil {
		t.Fatal(err)
	}
	holder := virtualwebauthn.NewAuthenticatorWithOptions(virtualwebauthn.AuthenticatorOptions{UserHandle: []byte(u.ID)})
	key := newKey()
	site := virtualwebauthn.RelyingParty{ID: "app.example.com", Origin: origin}
	judged, err := p.VerifyRegistration(u, memory, virtualwebauthn.CreateAttestationResponse(site, holder, key, *creation))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.VerifyRegistration(access.User{ID: "other"}, memory, virtualwebauthn.CreateAttestationResponse(site, holder, key, *creation)); err == nil {
		t.Error("somebody else's answer was taken")
	}
	return holder, key, people.Passkey{UserID: u.ID, CredentialID: judged.CredentialID, Credential: judged.Credential}
}

func TestQuestionsAndAnswers(t *testing.T) {
	t.Parallel()
	p, err := passkey.New(origin)
	if err != nil {
		t.Fatal(err)
	}
	u := access.User{ID: "0190b0a0-0000-7000-8000-000000000001", Email: "ada@example.com", Name: "Ada"}
	holder, key, kept := register(t, p, u)
	if options, _, err := p.Register(u, []people.Passkey{kept}); err != nil || !strings.Contains(options, "excludeCredentials") {
		t.Errorf("a second passkey on the same device is not excluded: %v", err)
	}
	owner := func([]byte) (string, []people.Passkey, error) { return u.ID, []people.Passkey{kept}, nil }
	for _, userID := range []string{u.ID, ""} {
		options, memory, err := p.Ask(userID, map[bool][]people.Passkey{true: {kept}}[userID != ""])
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(options, `"userVerification":"required"`) || strings.Contains(options, "allowCredentials") != (userID != "") {
			t.Errorf("asked of %q: %s", userID, options)
		}
		request, err := virtualwebauthn.ParseAssertionOptions(options)
		if err != nil {
			t.Fatal(err)
		}
		key.Counter += 2
		for what, answer := range map[string]struct {
			site virtualwebauthn.RelyingParty
			good bool
		}{
			"this site":     {virtualwebauthn.RelyingParty{ID: "app.example.com", Origin: origin}, true},
			"another port":  {virtualwebauthn.RelyingParty{ID: "app.example.com", Origin: "https://app.example.com"}, false},
			"a subdomain":   {virtualwebauthn.RelyingParty{ID: "app.example.com", Origin: "https://x.app.example.com:8443"}, false},
			"plain http":    {virtualwebauthn.RelyingParty{ID: "app.example.com", Origin: "http://app.example.com:8443"}, false},
			"a parent site": {virtualwebauthn.RelyingParty{ID: "example.com", Origin: origin}, false},
		} {
			judged, err := p.VerifyAnswer(memory, virtualwebauthn.CreateAssertionResponse(answer.site, holder, key, *request), owner)
			if (err == nil) != answer.good {
				t.Errorf("%s: %v", what, err)
			}
			if err == nil && judged.Cloned {
				t.Errorf("%s: the count has grown", what)
			}
		}
	}
}
