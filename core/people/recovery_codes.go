package people

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
)

// The form of recovery codes. A code has 80 random bits, so storing its SHA-256 hash is
// safe.
const (
	recoveryCodes      = 10
	recoveryCodeLength = 16 // the first 16 of the 26 Base32 characters that rand.Text returns
	recoveryCodeGroup  = 4
)

// RenewCodes replaces all recovery codes of the visitor and returns the new ones, which are
// shown once. It fails with conflict if the person has no second factor or has not proved
// one recently; see [IsProofNeeded].
func (f *SecondFactors) RenewCodes(ctx context.Context, v Visitor, requestID string) ([]string, error) {
	var codes []string
	err := f.people.withPerson(ctx, v.User.ID, func(ctx context.Context) error {
		has, err := f.CheckIdentity(ctx, v)
		if err != nil {
			return err
		}
		if !has.Any() {
			return core.Conflict("You have no second factor, and recovery codes can only replace one.", "Set up a second factor first.")
		}
		fresh, err := f.replaceCodes(ctx, v.User.ID)
		if err != nil {
			return err
		}
		codes = fresh
		return f.people.audit(ctx, v.Session, "user.recovery_codes_renewed", requestID, "{}")
	})
	if err != nil {
		return nil, err
	}
	return codes, nil
}

func (f *SecondFactors) replaceCodes(ctx context.Context, userID string) ([]string, error) {
	codes, hashes := make([]string, recoveryCodes), make([][]byte, recoveryCodes)
	for i := range codes {
		code := rand.Text()[:recoveryCodeLength]
		codes[i], hashes[i] = groupCode(code), hashOfRecovery(userID, code)
	}
	if err := f.factors.SetRecoveryCodes(ctx, userID, hashes); err != nil {
		return nil, fmt.Errorf("recovery codes: %w", err)
	}
	return codes, nil
}

// takeRecoveryCode marks a recovery code of the person as used. It fails with
// validation_failed if the code is unknown or was used before.
func (f *SecondFactors) takeRecoveryCode(ctx context.Context, s Session, code, requestID string) error {
	used, err := f.factors.UseRecoveryCode(ctx, s.UserID, hashOfRecovery(s.UserID, code), f.people.Clock())
	if err != nil {
		return fmt.Errorf("recovery code: %w", err)
	}
	if !used {
		return wrongCode()
	}
	left, err := f.factors.RecoveryCodesLeft(ctx, s.UserID)
	if err != nil {
		return fmt.Errorf("recovery codes: %w", err)
	}
	return f.people.audit(ctx, s, "user.recovery_code_used", requestID, fmt.Sprintf(`{"left":%d}`, left))
}

// hashOfRecovery returns the hash under which a recovery code of this person is stored.
func hashOfRecovery(userID, code string) []byte { return access.HashSecret(userID + "\x00" + code) }

// readCode returns a typed code in upper case, without spaces and dashes: a recovery code
// or a code of an authenticator app. It returns "" if the text is too long.
func readCode(typed string) string {
	if len(typed) > maxTypedCode {
		return ""
	}
	return strings.ToUpper(strings.NewReplacer(" ", "", "-", "", "\t", "").Replace(typed))
}

const maxTypedCode = 64

// groupCode returns the code with a dash after every four characters.
func groupCode(code string) string {
	var b strings.Builder
	for i, c := range []byte(code) {
		if i > 0 && i%recoveryCodeGroup == 0 {
			b.WriteByte('-')
		}
		b.WriteByte(c)
	}
	return b.String()
}
