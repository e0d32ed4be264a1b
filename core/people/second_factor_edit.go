package people

import (
	"context"
	"fmt"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
)

// add calls do, which stores a second factor, and marks the factor as proved in the
// session. If it is the person's first factor, add ends the person's other sessions,
// because these began with only a password.
func (f *SecondFactors) add(ctx context.Context, v Visitor, of, requestID string, do func(context.Context) error) (Added, error) {
	added := Added{Secret: access.MintLink().Secret}
	err := f.people.withPerson(ctx, v.User.ID, func(ctx context.Context) error {
		before, err := f.CheckIdentity(ctx, v)
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
		added.RecoveryCodes = nil // cleared, because this function runs again if the transaction is retried
		if left == 0 {
			if added.RecoveryCodes, err = f.replaceCodes(ctx, v.User.ID); err != nil {
				return err
			}
		}
		// Read the session again: the person may have switched to another organization.
		session, err := f.people.find(ctx, v.secret, f.people.Clock())
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

// remove calls do, which deletes a second factor. If it was the last one, it also deletes
// the recovery codes. It fails with conflict if an organization requires the last factor;
// see [SecondFactors.MayLose].
func (f *SecondFactors) remove(ctx context.Context, v Visitor, of, requestID string, do func(context.Context) error) error {
	return f.people.withPerson(ctx, v.User.ID, func(ctx context.Context) error {
		before, err := f.CheckIdentity(ctx, v)
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

// MayLose checks whether a person may remove a second factor. The parameter has is the
// person's second factors. It fails with conflict if only one is left and an organization
// of the person requires a second factor.
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
	// If passkeys are not offered, an app is the only kind of second factor, so the person
	// cannot add another one before removing this one.
	if has.App != nil && !f.OffersPasskeys() {
		next = "To move to another phone, ask the operator of this server to reset your second factors."
	}
	return core.Conflict("This is your last second factor, and one is required by "+strings.Join(strict, ", ")+".", next)
}

// ResetSecondFactors deletes all second factors of a person who lost them, and ends the
// person's sessions. It adds an audit entry to each organization of the person.
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
