package people

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/signing"
	"github.com/mailhelm/mailhelm/core/throttle"
)

const (
	// SecondFactorWait is how long after entering the password a person may take to prove
	// the second factor.
	SecondFactorWait = 10 * time.Minute
	// ProofAge is how long a proof of a second factor counts as recent.
	ProofAge = 10 * time.Minute
)

// The limits on attempts at codes of six digits, for each person, over all sessions and
// networks: five at once, then one every five minutes. In a month of guessing, the chance
// to guess one of the three codes that are valid at a time is 2.6 percent.
const (
	codeTries  = 5
	codeRefill = 5 * time.Minute
)

// SecondFactorsConfig has the dependencies of [SecondFactors].
type SecondFactorsConfig struct {
	Sessions *Sessions
	// Master encrypts the secrets of authenticator apps.
	Master signing.MasterKey
	// Passkeys is nil if the server offers no passkeys, because its URL has an IP address
	// instead of a domain name.
	Passkeys PasskeyProtocol
}

// SecondFactors sets up, removes and accepts second factors. It is safe for use by
// several goroutines.
type SecondFactors struct {
	people   *Sessions
	factors  FactorStore
	passkeys PasskeyStore
	master   signing.MasterKey
	protocol PasskeyProtocol
	// ceremonies creates requests for passkeys and verifies the answers of the
	// authenticators.
	ceremonies ceremonies
	tries      *throttle.Throttle
}

// NewSecondFactors returns a SecondFactors.
func NewSecondFactors(cfg SecondFactorsConfig) *SecondFactors {
	return &SecondFactors{
		people: cfg.Sessions, factors: cfg.Sessions.Factors, passkeys: cfg.Sessions.Passkeys, master: cfg.Master, protocol: cfg.Passkeys,
		ceremonies: ceremonies{people: cfg.Sessions, passkeys: cfg.Sessions.Passkeys, protocol: cfg.Passkeys},
		tries:      throttle.New(codeTries, codeRefill),
	}
}

// OffersPasskeys reports whether people can have passkeys on this server.
func (f *SecondFactors) OffersPasskeys() bool { return f.protocol != nil }

// Factors are the second factors that a person has set up. Recovery codes do not count as a
// factor.
type Factors struct {
	App       *AuthenticatorApp // nil if there is no confirmed app
	Passkeys  []Passkey
	CodesLeft int
}

// Any reports whether the person has at least one second factor.
func (f Factors) Any() bool { return f.App != nil || len(f.Passkeys) > 0 }

// last reports whether the person has exactly one second factor.
func (f Factors) last() bool {
	if f.App != nil {
		return len(f.Passkeys) == 0
	}
	return len(f.Passkeys) == 1
}

// FactorsOf returns the second factors of a person.
func (f *SecondFactors) FactorsOf(ctx context.Context, userID string) (Factors, error) {
	return f.people.factorsOf(ctx, userID)
}

func (c SessionsConfig) factorsOf(ctx context.Context, userID string) (Factors, error) {
	var found Factors
	app, err := c.Factors.AuthenticatorApp(ctx, userID)
	switch {
	case err == nil && app.ConfirmedAt != nil:
		found.App = &app
	case err != nil && !core.IsNotFound(err):
		return Factors{}, fmt.Errorf("authenticator app: %w", err)
	}
	if found.Passkeys, err = c.Passkeys.Passkeys(ctx, userID); err != nil {
		return Factors{}, fmt.Errorf("passkeys: %w", err)
	}
	if found.CodesLeft, err = c.Factors.RecoveryCodesLeft(ctx, userID); err != nil {
		return Factors{}, fmt.Errorf("recovery codes: %w", err)
	}
	return found, nil
}

// Demand is what a visitor must do about second factors before an organization shows its
// pages.
type Demand string

// What a visitor must do about second factors.
const (
	NoDemand    Demand = ""
	DemandSetUp Demand = "set_up" // set up a second factor, since the person has none
	DemandProof Demand = "proof"  // the person must prove the second factor in this session
)

// Demand returns what the organization of the visitor's session requires before it shows a
// page.
func (f *SecondFactors) Demand(ctx context.Context, v Visitor) (Demand, error) {
	if !v.Org.RequireSecondFactor || v.Session.SecondFactorAt != nil {
		return NoDemand, nil
	}
	has, err := f.FactorsOf(ctx, v.User.ID)
	switch {
	case err != nil:
		return NoDemand, err
	case has.Any():
		return DemandProof, nil
	}
	return DemandSetUp, nil
}

// DemandLately returns what the organization of the session requires before a sensitive
// action. If the organization requires second factors, the person must also have proved a
// second factor recently.
func (f *SecondFactors) DemandLately(ctx context.Context, v Visitor) (Demand, error) {
	demand, err := f.Demand(ctx, v)
	if err != nil || demand != NoDemand || !v.Org.RequireSecondFactor || v.Session.provenLately(f.people.Clock()) {
		return demand, err
	}
	return DemandProof, nil
}

// provenLately reports whether the session has proved a second factor in the time ProofAge
// before now.
func (s Session) provenLately(now time.Time) bool {
	return s.SecondFactorAt != nil && now.Sub(*s.SecondFactorAt) <= ProofAge
}

var errProofNeeded = errors.New("nothing was proven lately")

// IsProofNeeded reports whether err means that a recent proof is required: of a second
// factor or, from a person who has none, of the password.
func IsProofNeeded(err error) bool { return errors.Is(err, errProofNeeded) }

// CheckProof fails if the visitor has a second factor and has not proved it recently; see
// [IsProofNeeded]. It accepts a visitor without second factors.
func (f *SecondFactors) CheckProof(ctx context.Context, v Visitor) error {
	has, err := f.FactorsOf(ctx, v.User.ID)
	if err != nil || !has.Any() || v.Session.provenLately(f.people.Clock()) {
		return err
	}
	return proofNeededError()
}

// CheckIdentity returns the second factors of a visitor. It fails without a recent proof of a
// second factor, or without a recent sign-in of a person who has no second factor; see
// [IsProofNeeded]. Without this check, a stranger at an unattended browser could change the
// person's factors.
func (f *SecondFactors) CheckIdentity(ctx context.Context, v Visitor) (Factors, error) {
	has, err := f.FactorsOf(ctx, v.User.ID)
	if err != nil {
		return Factors{}, err
	}
	if v.Session.provenLately(f.people.Clock()) || !has.Any() && f.people.Clock().Sub(v.Session.CreatedAt) <= ProofAge {
		return has, nil
	}
	return Factors{}, proofNeededError()
}

func proofNeededError() error {
	return &core.Error{
		Code: core.CodeConflict, Message: "This action needs a recent confirmation of your identity.",
		Next: "Confirm your identity and try again.", Err: errProofNeeded,
	}
}

// count counts one attempt of a person to enter a code. It fails with rate_limited after
// too many attempts.
func (f *SecondFactors) count(userID string) error {
	if wait := f.tries.Take(userID, f.people.Clock()); wait > 0 {
		return &core.Error{
			Code: core.CodeRateLimited, RetryAfter: wait.Truncate(time.Second) + time.Second,
			Message: "Too many wrong codes were entered.", Next: "Wait a few minutes, then try again.",
		}
	}
	return nil
}

var errWrongCode = errors.New("wrong or used code")

// wrongCode returns the error for a code that is not accepted, with the same text for every
// cause.
func wrongCode() error {
	return &core.Error{
		Code: core.CodeValidationFailed, Message: "This code is wrong or was used before.",
		Next: "Wait for the next code of the app, or use another recovery code.", Err: errWrongCode,
	}
}

// kind returns the audit detail of an event about a second factor of this kind, as JSON.
func kind(of string) string { return `{"kind":"` + of + `"}` }

// The kinds of second factors, as named in the audit log.
const (
	kindApp      = "authenticator_app"
	kindPasskey  = "passkey"
	kindRecovery = "recovery_code"
)
