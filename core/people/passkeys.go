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

// PasskeyProtocol is WebAuthn: it puts questions to authenticators and judges
// their answers. Options and answers are the JSON that browsers exchange with
// them; memory is what it needs to judge the answer, and is kept away from the
// browser. Whoever answers has to be verified by the authenticator. It keeps
// nothing itself and tells no time.
type PasskeyProtocol interface {
	// Register asks for a new passkey on an authenticator that has none of these.
	Register(u access.User, existing []Passkey) (options, memory string, err error)
	Registered(u access.User, memory, answer string) (JudgedPasskey, error)
	// Ask asks for one of a person's passkeys, or, for the user id "", for any that
	// an authenticator has for this site.
	Ask(userID string, existing []Passkey) (options, memory string, err error)
	// Answered judges an answer to Ask. owner finds whose a credential is, and all
	// passkeys of that person.
	Answered(memory, answer string, owner func(credentialID []byte) (string, []Passkey, error)) (JudgedPasskey, error)
}

// JudgedPasskey is a credential that gave a good answer.
type JudgedPasskey struct {
	CredentialID []byte
	// Credential is what has to be kept of it from now on.
	Credential string
	// Cloned is true when its count of signatures went back, now or ever: somebody
	// may have a copy.
	Cloned bool
}

// PasskeyQuestion is a question for the browser to put to an authenticator.
type PasskeyQuestion struct {
	Options string // JSON
	// Ceremony is the secret that the answer has to bring along.
	Ceremony string
}

// PasskeyAnswer is what the browser sends back.
type PasskeyAnswer struct{ Ceremony, Answer string }

// The purposes of a ceremony. An answer is good for its purpose alone.
const (
	ceremonyRegister = "register"
	ceremonySignIn   = "sign_in"
	ceremonyConfirm  = "confirm"
)

// ceremonyWait is how long an answer may take.
const ceremonyWait = 5 * time.Minute

var errNoPasskeys = errors.New("passkeys are not offered here")

// AskPasskey asks for a passkey of the person whose session this is, also of one
// that awaits it, as a [FactorProof].
func (f *SecondFactors) AskPasskey(ctx context.Context, secret string) (PasskeyQuestion, error) {
	v, err := f.Asked(ctx, secret)
	if err != nil {
		return PasskeyQuestion{}, err
	}
	has, err := f.Of(ctx, v.User.ID)
	if err != nil {
		return PasskeyQuestion{}, err
	}
	if !f.PasskeysOffered() || len(has.Passkeys) == 0 {
		return PasskeyQuestion{}, passkeyRefused(errNoPasskeys)
	}
	options, memory, err := f.protocol.Ask(v.User.ID, has.Passkeys)
	if err != nil {
		return PasskeyQuestion{}, fmt.Errorf("ask for a passkey: %w", err)
	}
	return f.keep(ctx, PasskeyCeremony{UserID: v.User.ID, Purpose: ceremonyConfirm, Data: memory}, options)
}

// keep stores a question until it is answered.
func (f *SecondFactors) keep(ctx context.Context, c PasskeyCeremony, options string) (PasskeyQuestion, error) {
	q := PasskeyQuestion{Options: options, Ceremony: access.MintLink().Secret}
	c.Hash, c.ExpiresAt = access.HashSecret(q.Ceremony), f.people.Clock().Add(ceremonyWait)
	if err := f.passkeys.InsertCeremony(ctx, c); err != nil {
		return PasskeyQuestion{}, fmt.Errorf("passkey ceremony: %w", err)
	}
	return q, nil
}

// take finds what an answer is to. It is gone afterwards, however the answer is.
func (f *SecondFactors) take(ctx context.Context, a PasskeyAnswer, purpose, userID string) (PasskeyCeremony, error) {
	if !f.PasskeysOffered() {
		return PasskeyCeremony{}, passkeyRefused(errNoPasskeys)
	}
	c, err := f.passkeys.TakeCeremony(ctx, access.HashSecret(a.Ceremony), f.people.Clock())
	switch {
	case core.IsNotFound(err):
		return PasskeyCeremony{}, passkeyRefused(err)
	case err != nil:
		return PasskeyCeremony{}, fmt.Errorf("passkey ceremony: %w", err)
	case c.Purpose != purpose || c.UserID != userID:
		return PasskeyCeremony{}, passkeyRefused(errors.New("the answer is to another question"))
	}
	return c, nil
}

// judge takes an answer to Ask, and notes the use of the passkey. One that may
// have been copied is refused, then and from then on.
func (f *SecondFactors) judge(ctx context.Context, a PasskeyAnswer, purpose, userID string) (Passkey, error) {
	c, err := f.take(ctx, a, purpose, userID)
	if err != nil {
		return Passkey{}, err
	}
	var existing []Passkey
	var failure error // of ours, while the answer was judged
	judged, err := f.protocol.Answered(c.Data, a.Answer, func(credentialID []byte) (string, []Passkey, error) {
		owner := ""
		owner, existing, failure = f.owner(ctx, credentialID)
		return owner, existing, failure
	})
	if failure != nil && !core.IsNotFound(failure) {
		return Passkey{}, failure
	}
	if err != nil {
		return Passkey{}, passkeyRefused(err)
	}
	for _, p := range existing {
		if bytes.Equal(p.CredentialID, judged.CredentialID) && (userID == "" || p.UserID == userID) {
			return p, f.note(ctx, p, judged)
		}
	}
	return Passkey{}, passkeyRefused(errors.New("the passkey is not this person's"))
}

func (f *SecondFactors) owner(ctx context.Context, credentialID []byte) (string, []Passkey, error) {
	p, err := f.passkeys.PasskeyByCredential(ctx, credentialID)
	if err != nil {
		return "", nil, err
	}
	existing, err := f.passkeys.Passkeys(ctx, p.UserID)
	return p.UserID, existing, err
}

// note stores what came of a use, and the suspicion with its line in the audit log.
func (f *SecondFactors) note(ctx context.Context, p Passkey, judged JudgedPasskey) error {
	now := f.people.Clock()
	err := f.change(ctx, p.UserID, func(ctx context.Context) error {
		stored, err := f.passkeys.PasskeyByCredential(ctx, p.CredentialID)
		if err != nil {
			return err
		}
		if stored.Credential != p.Credential {
			return passkeyRefused(errors.New("the passkey was used elsewhere while this answer was judged"))
		}
		stored.Credential, stored.LastUsedAt = judged.Credential, &now
		if err := f.passkeys.SetPasskey(ctx, stored); err != nil || !judged.Cloned {
			return err
		}
		return f.people.AuditEverywhere(ctx, access.Actor{Kind: "user", ID: p.UserID}, p.UserID, "user.passkey_copy_suspected", "")
	})
	switch {
	case core.IsNotFound(err): // removed in between
		return passkeyRefused(err)
	case err != nil:
		return fmt.Errorf("note the use of a passkey: %w", err)
	case judged.Cloned:
		return passkeyRefused(errors.New("the count of signatures went back"))
	}
	return nil
}

// passkeyRefused is the one answer to every passkey that is not taken.
func passkeyRefused(cause error) error {
	return &core.Error{
		Code: core.CodeValidationFailed, Message: "The passkey was not accepted.",
		Next: "Try again, or use another way.", Err: cause,
	}
}
