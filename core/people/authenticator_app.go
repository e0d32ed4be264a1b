package people

import (
	"context"
	"crypto/subtle"
	"fmt"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/signing"
	"github.com/pquerna/otp"
	"github.com/pquerna/otp/hotp"
	"github.com/pquerna/otp/totp"
)

// The parameters of one-time codes that every authenticator app supports: RFC 6238 with
// SHA-1, six digits and steps of 30 seconds. Many apps ignore other parameters and then
// show wrong codes.
const (
	appIssuer  = "Mailhelm"
	stepLength = 30 * time.Second
	codeDigits = 6
	sealedApp  = "authenticator app"
)

// AppKey is the secret of an authenticator app, as the page shows it during setup.
type AppKey struct {
	// Secret is in Base32, for typing it into the app.
	Secret string
	// URI is an otpauth:// URI, for a QR code.
	URI string
}

// Added is the result of adding a second factor.
type Added struct {
	// Secret is the new secret of the session, for its cookie.
	Secret string
	// RecoveryCodes are new recovery codes, which are shown once. It is nil if the person
	// has unused ones.
	RecoveryCodes []string
}

// BeginApp returns a new secret for an authenticator app. It becomes a second factor when
// [SecondFactors.ConfirmApp] accepts its first code. It fails with conflict if the person
// has an app already, or has not proved a second factor or the password recently; see
// [IsProofNeeded].
func (f *SecondFactors) BeginApp(ctx context.Context, v Visitor) (AppKey, error) {
	key, err := appKey(v.User, nil)
	if err != nil {
		return AppKey{}, err
	}
	sealed, err := f.master.Seal(sealedApp, v.User.ID, []byte(key.Secret))
	if err != nil {
		return AppKey{}, err
	}
	err = f.people.withPerson(ctx, v.User.ID, func(ctx context.Context) error {
		has, err := f.CheckIdentity(ctx, v)
		if err != nil {
			return err
		}
		if has.App != nil {
			return core.Conflict("You have an authenticator app already.", "Remove the app first.")
		}
		return f.factors.SetAuthenticatorApp(ctx, AuthenticatorApp{UserID: v.User.ID, Sealed: sealed, CreatedAt: f.people.Clock()})
	})
	if err != nil {
		return AppKey{}, err
	}
	return key, nil
}

// PendingApp returns the last secret of BeginApp, so that the page can show it again after
// a wrong code. It fails with not_found if the person has no unconfirmed app.
func (f *SecondFactors) PendingApp(ctx context.Context, v Visitor) (AppKey, error) {
	if _, err := f.CheckIdentity(ctx, v); err != nil {
		return AppKey{}, err
	}
	app, err := f.factors.AuthenticatorApp(ctx, v.User.ID)
	if err != nil {
		return AppKey{}, err
	}
	if app.ConfirmedAt != nil {
		return AppKey{}, core.NotFound("authenticator app")
	}
	secret, err := openApp(f.master, app)
	if err != nil {
		return AppKey{}, err
	}
	raw, err := unpadded.DecodeString(secret)
	if err != nil {
		return AppKey{}, fmt.Errorf("secret of an authenticator app: %w", err)
	}
	return appKey(v.User, raw)
}

// ConfirmApp accepts the first code of an app and makes the app a second factor. It fails
// with validation_failed for a wrong code, and with rate_limited after too many wrong
// codes.
func (f *SecondFactors) ConfirmApp(ctx context.Context, v Visitor, code, requestID string) (Added, error) {
	if _, err := f.PendingApp(ctx, v); err != nil {
		return Added{}, err
	}
	if err := f.count(v.User.ID); err != nil {
		return Added{}, err
	}
	added, err := f.add(ctx, v, kindApp, requestID, func(ctx context.Context) error {
		return f.takeStep(ctx, v.User.ID, readCode(code), isPending)
	})
	if err == nil {
		f.tries.Forget(v.User.ID)
	}
	return added, err
}

// RemoveApp deletes the person's authenticator app. If it was the last second factor, it
// also deletes the recovery codes. It fails with conflict if an organization requires the
// last factor; see [SecondFactors.MayLose].
func (f *SecondFactors) RemoveApp(ctx context.Context, v Visitor, requestID string) error {
	return f.remove(ctx, v, kindApp, requestID, func(ctx context.Context) error {
		return f.factors.DeleteAuthenticatorApp(ctx, v.User.ID)
	})
}

// isConfirmed and isPending are values for the parameter fit of takeStep. They report
// whether the person has confirmed the app with a code, or has not confirmed it yet.
func isConfirmed(a AuthenticatorApp) bool { return a.ConfirmedAt != nil }
func isPending(a AuthenticatorApp) bool   { return a.ConfirmedAt == nil }

// takeStep marks a code of the person's authenticator app as used. It fails with
// validation_failed if the code is wrong or was used before, or if fit returns false for
// the app.
func (f *SecondFactors) takeStep(ctx context.Context, userID, code string, fit func(AuthenticatorApp) bool) error {
	app, err := f.factors.AuthenticatorApp(ctx, userID)
	if core.IsNotFound(err) || err == nil && !fit(app) {
		return wrongCode()
	}
	if err != nil {
		return fmt.Errorf("authenticator app: %w", err)
	}
	secret, err := openApp(f.master, app)
	if err != nil {
		return err
	}
	now := f.people.Clock()
	step, matches, err := stepOf(secret, code, now)
	if err != nil {
		return err
	}
	if !matches {
		return wrongCode()
	}
	taken, err := f.factors.UseStep(ctx, userID, step, now)
	if err != nil {
		return fmt.Errorf("use step: %w", err)
	}
	if !taken {
		return wrongCode()
	}
	return nil
}

// stepOf returns the time step of a code. It compares the code with those of the present
// step, the one before and the one after, because clocks differ. It always compares all
// three, so that its duration does not depend on the code. It returns false if none
// matches.
func stepOf(secret, code string, now time.Time) (int64, bool, error) {
	present, found, matches := int(now.Unix()/int64(stepLength/time.Second)), 0, 0
	for step := present - 1; step <= present+1; step++ {
		want, err := hotp.GenerateCode(secret, uint64(step))
		if err != nil {
			return 0, false, fmt.Errorf("code of an authenticator app: %w", err)
		}
		same := subtle.ConstantTimeCompare([]byte(want), []byte(code))
		found = subtle.ConstantTimeSelect(same, step, found)
		matches |= same
	}
	return int64(found), matches == 1, nil
}

func openApp(master signing.MasterKey, app AuthenticatorApp) (string, error) {
	secret, err := master.Open(sealedApp, app.UserID, app.Sealed)
	if err != nil {
		return "", fmt.Errorf("secret of an authenticator app: %w", err)
	}
	return string(secret), nil
}

// appKey returns the AppKey for the secret of an authenticator app. If secret is nil, it
// creates a random secret.
func appKey(u access.User, secret []byte) (AppKey, error) {
	key, err := totp.Generate(totp.GenerateOpts{
		Issuer: appIssuer, AccountName: u.Email, Secret: secret, Period: uint(stepLength / time.Second),
		Digits: codeDigits, Algorithm: otp.AlgorithmSHA1,
	})
	if err != nil {
		return AppKey{}, fmt.Errorf("secret of an authenticator app: %w", err)
	}
	return AppKey{Secret: key.Secret(), URI: key.URL()}, nil
}
