package people

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
)

// PasskeyProtocol is the WebAuthn protocol. It creates requests to authenticators and
// verifies their answers. The options of a request and the answer are the JSON that
// browsers exchange with authenticators. The result memory is a JSON state to store until
// the answer is verified; browsers never receive it.
//
// The authenticator must verify the person, for example by a fingerprint. An implementation
// stores nothing and does not use a clock.
type PasskeyProtocol interface {
	// Register returns the options for a new passkey, and in memory the state that
	// VerifyRegistration needs. The authenticator must not have one of the existing
	// passkeys.
	Register(u access.User, existing []Passkey) (options, memory string, err error)
	VerifyRegistration(u access.User, memory, answer string) (JudgedPasskey, error)
	// Ask returns the options for proving that the person has one of the existing passkeys.
	// If userID is "", any passkey of this site may answer.
	Ask(userID string, existing []Passkey) (options, memory string, err error)
	// VerifyAnswer verifies an answer to a request that Ask created. The function owner
	// returns the user id of the person to whom a credential belongs, and all passkeys of
	// that person.
	VerifyAnswer(memory, answer string, owner func(credentialID []byte) (string, []Passkey, error)) (JudgedPasskey, error)
}

// JudgedPasskey is the result of verifying an authenticator's answer.
type JudgedPasskey struct {
	CredentialID []byte
	// Credential is to be stored as the new [Passkey.Credential].
	Credential string
	// Cloned is true if the authenticator's signature counter did not increase: a copy of
	// the passkey may exist.
	Cloned bool
}

// PasskeyQuestion is a request that the browser passes to the authenticator.
type PasskeyQuestion struct {
	Options string // the request as JSON, for the browser's WebAuthn functions
	// Ceremony is a secret that the browser must return with the answer.
	Ceremony string
}

// PasskeyAnswer is the browser's answer to a PasskeyQuestion.
type PasskeyAnswer struct{ Ceremony, Answer string }

// The purposes of a ceremony. An answer is accepted only for the purpose of its request.
const (
	ceremonyRegister = "register"
	ceremonySignIn   = "sign_in"
	ceremonyConfirm  = "confirm"
)

// ceremonyWait is how long a browser may take to answer a request for a passkey.
const ceremonyWait = 5 * time.Minute

var errNoPasskeys = errors.New("passkeys are not offered here")

// ceremonies creates the requests for passkeys that authenticators answer, stores the
// requests, and verifies the answers.
type ceremonies struct {
	people   *Sessions
	passkeys PasskeyStore
	protocol PasskeyProtocol // nil if the server offers no passkeys
}

// AskPasskey returns a request for a passkey of the person to whom the session with this
// secret belongs. The caller puts the answer into a [FactorProof]. The session may still
// await its second factor.
func (f *SecondFactors) AskPasskey(ctx context.Context, secret string) (PasskeyQuestion, error) {
	v, err := f.FindAwaiting(ctx, secret)
	if err != nil {
		return PasskeyQuestion{}, err
	}
	has, err := f.FactorsOf(ctx, v.User.ID)
	if err != nil {
		return PasskeyQuestion{}, err
	}
	if !f.OffersPasskeys() || len(has.Passkeys) == 0 {
		return PasskeyQuestion{}, passkeyError(errNoPasskeys)
	}
	options, memory, err := f.protocol.Ask(v.User.ID, has.Passkeys)
	if err != nil {
		return PasskeyQuestion{}, fmt.Errorf("ask for a passkey: %w", err)
	}
	return f.ceremonies.keep(ctx, PasskeyCeremony{UserID: v.User.ID, Purpose: ceremonyConfirm, Data: memory}, options)
}

// keep stores a ceremony, the state of a request until its answer arrives. It returns the
// request: the options, and a new secret. The answer must contain the secret, by which take
// finds the ceremony.
func (c ceremonies) keep(ctx context.Context, asked PasskeyCeremony, options string) (PasskeyQuestion, error) {
	q := PasskeyQuestion{Options: options, Ceremony: access.MintLink().Secret}
	asked.Hash, asked.ExpiresAt = access.HashSecret(q.Ceremony), c.people.Clock().Add(ceremonyWait)
	if err := c.passkeys.InsertCeremony(ctx, asked); err != nil {
		return PasskeyQuestion{}, fmt.Errorf("passkey ceremony: %w", err)
	}
	return q, nil
}

// take returns the ceremony to which the answer a belongs, and deletes it, even if the
// answer is wrong. A ceremony is the stored state of a request for a passkey. take fails
// with validation_failed if the ceremony does not exist, or if it has another purpose or
// belongs to another person.
func (c ceremonies) take(ctx context.Context, a PasskeyAnswer, purpose, userID string) (PasskeyCeremony, error) {
	if c.protocol == nil {
		return PasskeyCeremony{}, passkeyError(errNoPasskeys)
	}
	asked, err := c.passkeys.TakeCeremony(ctx, access.HashSecret(a.Ceremony), c.people.Clock())
	switch {
	case core.IsNotFound(err):
		return PasskeyCeremony{}, passkeyError(err)
	case err != nil:
		return PasskeyCeremony{}, fmt.Errorf("passkey ceremony: %w", err)
	case asked.Purpose != purpose || asked.UserID != userID:
		return PasskeyCeremony{}, passkeyError(errors.New("the answer is to another question"))
	}
	return asked, nil
}

// judge verifies an answer to a request for a passkey and stores the use of the passkey. It
// fails with validation_failed for a wrong answer. A passkey that may have been copied is
// refused from then on.
func (c ceremonies) judge(ctx context.Context, a PasskeyAnswer, purpose, userID string) (Passkey, error) {
	asked, err := c.take(ctx, a, purpose, userID)
	if err != nil {
		return Passkey{}, err
	}
	var existing []Passkey
	var failure error // error of the store during VerifyAnswer
	judged, err := c.protocol.VerifyAnswer(asked.Data, a.Answer, func(credentialID []byte) (string, []Passkey, error) {
		owner := ""
		owner, existing, failure = c.owner(ctx, credentialID)
		return owner, existing, failure
	})
	if failure != nil && !core.IsNotFound(failure) {
		return Passkey{}, failure
	}
	if err != nil {
		return Passkey{}, passkeyError(err)
	}
	for _, p := range existing {
		if bytes.Equal(p.CredentialID, judged.CredentialID) && (userID == "" || p.UserID == userID) {
			return p, c.note(ctx, p, judged)
		}
	}
	return Passkey{}, passkeyError(errors.New("the passkey is not this person's"))
}

func (c ceremonies) owner(ctx context.Context, credentialID []byte) (string, []Passkey, error) {
	p, err := c.passkeys.PasskeyByCredential(ctx, credentialID)
	if err != nil {
		return "", nil, err
	}
	existing, err := c.passkeys.Passkeys(ctx, p.UserID)
	return p.UserID, existing, err
}

// note stores the use of a passkey. If the passkey may have been copied, it adds an audit
// entry to each organization of the person, and fails.
func (c ceremonies) note(ctx context.Context, p Passkey, judged JudgedPasskey) error {
	now := c.people.Clock()
	err := c.people.withPerson(ctx, p.UserID, func(ctx context.Context) error {
		stored, err := c.passkeys.PasskeyByCredential(ctx, p.CredentialID)
		if err != nil {
			return err
		}
		if stored.Credential != p.Credential {
			return passkeyError(errors.New("the passkey was used elsewhere while this answer was judged"))
		}
		stored.Credential, stored.LastUsedAt = judged.Credential, &now
		if err := c.passkeys.SetPasskey(ctx, stored); err != nil || !judged.Cloned {
			return err
		}
		return c.people.AuditEverywhere(ctx, access.Actor{Kind: "user", ID: p.UserID}, p.UserID, "user.passkey_copy_suspected", "")
	})
	switch {
	case core.IsNotFound(err): // the passkey was removed since it was read
		return passkeyError(err)
	case err != nil:
		return fmt.Errorf("note the use of a passkey: %w", err)
	case judged.Cloned:
		return passkeyError(errors.New("the count of signatures went back"))
	}
	return nil
}

// passkeyError returns the error for a passkey that was not accepted, with the same text
// for every cause.
func passkeyError(cause error) error {
	return &core.Error{
		Code: core.CodeValidationFailed, Message: "The passkey was not accepted.",
		Next: "Try again, or use another method.", Err: cause,
	}
}
