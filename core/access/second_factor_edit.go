package access

import (
	"context"
	"fmt"
)

// change runs something that depends on what a person has set up, with the person
// held: of two changes from two browsers, the second finds what the first has left.
func (f *SecondFactors) change(ctx context.Context, userID string, do func(context.Context) error) error {
	return f.people.Tx.InTx(ctx, func(ctx context.Context) error {
		if err := f.factors.HoldUser(ctx, userID); err != nil {
			return signedOut(err)
		}
		return do(ctx)
	})
}

// add makes something a factor, and counts it as proven in the session.
func (f *SecondFactors) add(ctx context.Context, v Visitor, of, requestID string, do func(context.Context) error) (Added, error) {
	added := Added{Secret: random(secretBytes)}
	err := f.change(ctx, v.User.ID, func(ctx context.Context) error {
		if _, err := f.ready(ctx, v); err != nil {
			return err
		}
		if err := do(ctx); err != nil {
			return err
		}
		left, err := f.factors.RecoveryCodesLeft(ctx, v.User.ID)
		if err != nil {
			return fmt.Errorf("recovery codes: %w", err)
		}
		added.RecoveryCodes = nil // of an attempt before
		if left == 0 {
			if added.RecoveryCodes, err = f.replaceCodes(ctx, v.User.ID); err != nil {
				return err
			}
		}
		session, err := f.people.find(ctx, v.secret, f.people.Clock()) // again: its person may have switched
		if err != nil {
			return err
		}
		if session, err = f.renew(ctx, session, added.Secret); err != nil {
			return err
		}
		return f.people.audit(ctx, session, "user.second_factor_added", requestID, kind(of))
	})
	if err != nil {
		return Added{}, err
	}
	return added, nil
}

// remove takes a factor away, and with the last one the recovery codes.
func (f *SecondFactors) remove(ctx context.Context, v Visitor, of, requestID string, do func(context.Context) error) error {
	return f.change(ctx, v.User.ID, func(ctx context.Context) error {
		if _, err := f.ready(ctx, v); err != nil {
			return err
		}
		if err := do(ctx); err != nil {
			return err
		}
		left, err := f.Of(ctx, v.User.ID)
		if err != nil {
			return err
		}
		if !left.Any() {
			if err := f.factors.SetRecoveryCodes(ctx, v.User.ID, nil); err != nil {
				return fmt.Errorf("recovery codes: %w", err)
			}
		}
		return f.people.audit(ctx, v.Session, "user.second_factor_removed", requestID, kind(of))
	})
}

// ResetSecondFactors takes all second factors from a person who lost them, and
// ends the person's sessions. It leaves a line with every organization of theirs.
func ResetSecondFactors(ctx context.Context, cfg SessionsConfig, by Actor, userID string) error {
	return cfg.Tx.InTx(ctx, func(ctx context.Context) error {
		if err := cfg.Factors.HoldUser(ctx, userID); err != nil {
			return err
		}
		if err := cfg.Factors.DeleteAuthenticatorApp(ctx, userID); err != nil {
			return fmt.Errorf("authenticator app: %w", err)
		}
		if err := cfg.Factors.DeletePasskeysOf(ctx, userID); err != nil {
			return fmt.Errorf("passkeys: %w", err)
		}
		if err := cfg.Factors.SetRecoveryCodes(ctx, userID, nil); err != nil {
			return fmt.Errorf("recovery codes: %w", err)
		}
		if err := cfg.Sessions.DeleteSessionsOf(ctx, userID); err != nil {
			return fmt.Errorf("end sessions: %w", err)
		}
		return cfg.auditEverywhere(ctx, by, userID, "user.second_factors_reset")
	})
}
