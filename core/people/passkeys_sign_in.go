package people

import (
	"context"
	"fmt"
)

// PasskeySignIn is an attempt to sign in with a passkey and without a password.
type PasskeySignIn struct {
	Answer PasskeyAnswer
	// Client, Previous and RequestID have the same meaning as in [SignInRequest].
	Client, Previous, RequestID string
}

// AskSignIn returns a request that any passkey of this site may answer, to sign in. Each
// call counts as an attempt to sign in. It fails with rate_limited after too many from one
// client.
func (f *SecondFactors) AskSignIn(ctx context.Context, client string) (PasskeyQuestion, error) {
	if !f.OffersPasskeys() {
		return PasskeyQuestion{}, passkeyError(errNoPasskeys)
	}
	if err := f.people.Attempts.AdmitFrom(client); err != nil {
		return PasskeyQuestion{}, err
	}
	options, memory, err := f.protocol.Ask("", nil)
	if err != nil {
		return PasskeyQuestion{}, fmt.Errorf("ask for a passkey: %w", err)
	}
	return f.ceremonies.keep(ctx, PasskeyCeremony{Purpose: ceremonySignIn, Data: memory}, options)
}

// SignIn begins a session of the person who has used a passkey, and returns the secret for
// the session's cookie. The passkey counts as a second factor too, because the
// authenticator has verified the person.
func (f *SecondFactors) SignIn(ctx context.Context, in PasskeySignIn) (string, error) {
	p, err := f.ceremonies.judge(ctx, in.Answer, ceremonySignIn, "")
	if err != nil {
		return "", err
	}
	session, err := f.people.newSession(ctx, p.UserID, in.Previous)
	if err != nil {
		return "", err
	}
	session.SecondFactorAt = &session.CreatedAt
	return f.people.begin(ctx, session, in.Previous, func(ctx context.Context, session *Session) error {
		return f.people.audit(ctx, *session, "user.signed_in", in.RequestID, `{"with":"passkey"}`)
	})
}
