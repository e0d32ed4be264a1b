package people

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
)

// A recovery code has 80 random bits, so an SHA-256 hash of it is safe to store.
const (
	recoveryCodes      = 10
	recoveryCodeLength = 16 // of the 26 Base32 characters of rand.Text
	recoveryCodeGroup  = 4
)

// RenewCodes replaces all recovery codes and returns the new ones, which are shown once. It
// fails with conflict when the person has no second factor, and without a recent proof; see
// [IsProofNeeded].
func (f *SecondFactors) RenewCodes(ctx context.Context, v Visitor, requestID string) ([]string, error) {
	var codes []string
	err := f.people.withPerson(ctx, v.User.ID, func(ctx context.Context) error {
		has, err := f.ready(ctx, v)
		if err != nil {
			return err
		}
		if !has.Any() {
			return core.Conflict("You have no second factor, so there is nothing that a recovery code could replace.", "Set one up first.")
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

// takeRecoveryCode marks one of the person's codes as used.
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

// hashOfRecovery returns the hash of a code of this person.
func hashOfRecovery(userID, code string) []byte { return access.HashSecret(userID + "\x00" + code) }

// readCode returns a code in upper case without spaces and dashes.
func readCode(typed string) string {
	if len(typed) > maxTypedCode {
		return ""
	}
	return strings.ToUpper(strings.NewReplacer(" ", "", "-", "", "\t", "").Replace(typed))
}

const maxTypedCode = 64

// groupCode puts a dash after every four characters.
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
