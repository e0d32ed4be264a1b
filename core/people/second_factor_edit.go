package people

import (
	"context"
	"fmt"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
)

// add runs do, which stores a factor, and marks the factor as proven in the session. The
// first factor ends the person's other sessions, which began with a password alone.
func (f *SecondFactors) add(ctx context.Context, v Visitor, of, requestID string, do func(context.Context) error) (Added, error) {
	added := Added{Secret: access.MintLink().Secret}
	err := f.people.withPerson(ctx, v.User.ID, func(ctx context.Context) error {
		before, err := f.ready(ctx, v)
		if err != nil {
			return err
		}
		if err := do(ctx); err != nil {
			return err
		}
		left, err := f.factors.RecoveryCodesLeft(ctx, v.User.ID)
		if err != nil {
			return fmt.Errorf("recovery codes: %w", err)
		}
		added.RecoveryCodes = nil // the transaction may run again
		if left == 0 {
			if added.RecoveryCodes, err = f.replaceCodes(ctx, v.User.ID); err != nil {
				return err
			}
		}
		session, err := f.people.find(ctx, v.secret, f.people.Clock()) // again: the person may have switched the organization
		if err != nil {
			return err
		}
		if session, err = f.renew(ctx, session, added.Secret); err != nil {
			return err
		}
		detail := kind(of)
		if !before.Any() {
			ended, err := f.people.Sessions.DeleteOtherSessionsOf(ctx, session.UserID, session.Hash)
			if err != nil {
				return fmt.Errorf("end other sessions: %w", err)
			}
			if ended > 0 {
				detail = fmt.Sprintf(`{"kind":%q,"sessions_ended":%d}`, of, ended)
			}
		}
		return f.people.audit(ctx, session, "user.second_factor_added", requestID, detail)
	})
	if err != nil {
		return Added{}, err
	}
	return added, nil
}

// remove runs do, which deletes a factor. With the last factor it deletes the recovery
// codes. It fails as [SecondFactors.MayLose] does.
func (f *SecondFactors) remove(ctx context.Context, v Visitor, of, requestID string, do func(context.Context) error) error {
	return f.people.withPerson(ctx, v.User.ID, func(ctx context.Context) error {
		before, err := f.ready(ctx, v)
		if err != nil {
			return err
		}
		if err := do(ctx); err != nil {
			return err
		}
		left, err := f.FactorsOf(ctx, v.User.ID)
		if err != nil {
			return err
		}
		if !left.Any() {
			if err := f.MayLose(ctx, v.User.ID, before); err != nil {
				return err
			}
			if err := f.factors.SetRecoveryCodes(ctx, v.User.ID, nil); err != nil {
				return fmt.Errorf("recovery codes: %w", err)
			}
		}
		return f.people.audit(ctx, v.Session, "user.second_factor_removed", requestID, kind(of))
	})
}

// MayLose fails with conflict when a person must not remove a factor: it is the last one,
// and one of the person's organizations requires a factor.
func (f *SecondFactors) MayLose(ctx context.Context, userID string, has Factors) error {
	if !has.last() {
		return nil
	}
	orgs, err := f.people.Organizations(ctx, userID)
	if err != nil {
		return err
	}
	var strict []string
	for _, org := range orgs {
		if org.RequireSecondFactor {
			strict = append(strict, org.Name)
		}
	}
	if len(strict) == 0 {
		return nil
	}
	next := "Add another factor first, then remove this one."
	if has.App != nil && !f.OffersPasskeys() { // no other kind can be added
		next = "To move to another phone, ask the operator of this server to reset your second factors."
	}
	return core.Conflict("This is your last second factor, and one is required by "+strings.Join(strict, ", ")+".", next)
}

// ResetSecondFactors deletes all second factors of a person who lost them, and ends the
// person's sessions. Each organization of the person gets a line in its audit log.
func ResetSecondFactors(ctx context.Context, cfg SessionsConfig, by access.Actor, userID string) error {
	return cfg.Tx.InTx(ctx, func(ctx context.Context) error {
		if err := cfg.Users.HoldUser(ctx, userID); err != nil {
			return err
		}
		if err := cfg.Factors.DeleteAuthenticatorApp(ctx, userID); err != nil {
			return fmt.Errorf("authenticator app: %w", err)
		}
		if err := cfg.Passkeys.DeletePasskeysOf(ctx, userID); err != nil {
			return fmt.Errorf("passkeys: %w", err)
		}
		if err := cfg.Factors.SetRecoveryCodes(ctx, userID, nil); err != nil {
			return fmt.Errorf("recovery codes: %w", err)
		}
		if err := cfg.Sessions.DeleteSessionsOf(ctx, userID); err != nil {
			return fmt.Errorf("end sessions: %w", err)
		}
		return cfg.AuditEverywhere(ctx, by, userID, "user.second_factors_reset", "")
	})
}
