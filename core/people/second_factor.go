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
	// SecondFactorWait is how long a session waits for a second factor.
	SecondFactorWait = 10 * time.Minute
	// ProofAge is how long ago a second factor counts as proven lately.
	ProofAge = 10 * time.Minute
)

// Codes of six digits are guessed at strictly: five tries, then one more every
// five minutes, for the person, whichever session and address they come from. A
// month of guessing finds one of three valid codes with a chance of 2.6 percent.
const (
	codeTries  = 5
	codeRefill = 5 * time.Minute
)

// SecondFactorsConfig is what second factors are made of.
type SecondFactorsConfig struct {
	Sessions *Sessions
	// Master seals the secrets of authenticator apps.
	Master signing.MasterKey
	// Passkeys is nil where the app's address cannot have any.
	Passkeys PasskeyProtocol
}

// SecondFactors sets up and takes what a person proves beside a password. It is
// safe for use by several goroutines.
type SecondFactors struct {
	people   *Sessions
	factors  FactorStore
	passkeys PasskeyStore
	master   signing.MasterKey
	protocol PasskeyProtocol
	tries    *throttle.Throttle
}

// NewSecondFactors makes the tasks of second factors.
func NewSecondFactors(cfg SecondFactorsConfig) *SecondFactors {
	return &SecondFactors{
		people: cfg.Sessions, factors: cfg.Sessions.Factors, passkeys: cfg.Sessions.Passkeys, master: cfg.Master, protocol: cfg.Passkeys,
		tries: throttle.New(codeTries, codeRefill),
	}
}

// PasskeysOffered reports whether people can have passkeys here.
func (f *SecondFactors) PasskeysOffered() bool { return f.protocol != nil }

// Factors is what a person has set up. Recovery codes alone are no factor.
type Factors struct {
	App       *AuthenticatorApp // nil unless it is confirmed
	Passkeys  []Passkey
	CodesLeft int
}

// Any reports whether there is a factor.
func (f Factors) Any() bool { return f.App != nil || len(f.Passkeys) > 0 }

// last reports whether there is one factor alone.
func (f Factors) last() bool {
	if f.App != nil {
		return len(f.Passkeys) == 0
	}
	return len(f.Passkeys) == 1
}

// Of is what a person has set up.
func (f *SecondFactors) Of(ctx context.Context, userID string) (Factors, error) {
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

// Demand is what a visitor has to do before an organization lets them go on.
type Demand string

// The demands.
const (
	NoDemand    Demand = ""
	DemandSetUp Demand = "set_up" // a second factor, of which the person has none
	DemandProof Demand = "proof"  // of the second factor that the person has
)

// Demand is what the organization of the session wants of the visitor now.
func (f *SecondFactors) Demand(ctx context.Context, v Visitor) (Demand, error) {
	if !v.Org.RequireSecondFactor || v.Session.SecondFactorAt != nil {
		return NoDemand, nil
	}
	has, err := f.Of(ctx, v.User.ID)
	switch {
	case err != nil:
		return NoDemand, err
	case has.Any():
		return DemandProof, nil
	}
	return DemandSetUp, nil
}

// DemandLately is [SecondFactors.Demand] before a step of weight: the proof has to
// be a recent one.
func (f *SecondFactors) DemandLately(ctx context.Context, v Visitor) (Demand, error) {
	demand, err := f.Demand(ctx, v)
	if err != nil || demand != NoDemand || !v.Org.RequireSecondFactor || f.provenLately(v.Session) {
		return demand, err
	}
	return DemandProof, nil
}

func (f *SecondFactors) provenLately(s Session) bool {
	return s.SecondFactorAt != nil && f.people.Clock().Sub(*s.SecondFactorAt) <= ProofAge
}

var errProofNeeded = errors.New("nothing was proven lately")

// IsProofNeeded reports whether an error asks for a recent proof: of a second
// factor, or of the password from a person who has no second factor.
func IsProofNeeded(err error) bool { return errors.Is(err, errProofNeeded) }

// CheckProof fails as [IsProofNeeded] says when the visitor has a second factor and
// proved none lately. Who has none is not asked for anything.
func (f *SecondFactors) CheckProof(ctx context.Context, v Visitor) error {
	has, err := f.Of(ctx, v.User.ID)
	if err != nil || !has.Any() || f.provenLately(v.Session) {
		return err
	}
	return proofNeeded()
}

// ready finds what a visitor has set up, and refuses whoever proved nothing
// lately: a browser left open must not be enough to change how its person signs in.
func (f *SecondFactors) ready(ctx context.Context, v Visitor) (Factors, error) {
	has, err := f.Of(ctx, v.User.ID)
	if err != nil {
		return Factors{}, err
	}
	if f.provenLately(v.Session) || !has.Any() && f.people.Clock().Sub(v.Session.CreatedAt) <= ProofAge {
		return has, nil
	}
	return Factors{}, proofNeeded()
}

func proofNeeded() error {
	return &core.Error{
		Code: core.CodeConflict, Message: "This needs a proof that it is you.",
		Next: "Prove it and try again.", Err: errProofNeeded,
	}
}

// count counts a try at a code of a person.
func (f *SecondFactors) count(userID string) error {
	if wait := f.tries.Take(userID, f.people.Clock()); wait > 0 {
		return &core.Error{
			Code: core.CodeRateLimited, RetryAfter: wait.Truncate(time.Second) + time.Second,
			Message: "There were too many wrong codes.", Next: "Wait a few minutes, then try again.",
		}
	}
	return nil
}

var errWrongCode = errors.New("wrong or used code")

// wrongCode is the one answer to every code that is not taken.
func wrongCode() error {
	return &core.Error{
		Code: core.CodeValidationFailed, Message: "This code is not right, or was used before.",
		Next: "Wait for the next code of the app, or use another recovery code.", Err: errWrongCode,
	}
}

// kind is the detail of a line about a factor of this kind.
func kind(of string) string { return `{"kind":"` + of + `"}` }

// The kinds of factor, as the audit log names them.
const (
	kindApp      = "authenticator_app"
	kindPasskey  = "passkey"
	kindRecovery = "recovery_code"
)
