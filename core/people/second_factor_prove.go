package people

import (
	"context"
	"fmt"

	"github.com/mailhelm/mailhelm/core/access"
)

// FactorProof is what a person presents to prove a second factor: a code or an answer of a
// passkey.
type FactorProof struct {
	// Code is a code of the authenticator app or a recovery code, as typed.
	Code string
	// Passkey is used instead of Code if Passkey.Ceremony is not "".
	Passkey   PasskeyAnswer
	RequestID string
}

// FindAwaiting returns the visitor of a session, even of one that still awaits its second
// factor. It sets only the fields Session, User and secret of the visitor. It fails with
// invalid_key if there is no such session.
func (f *SecondFactors) FindAwaiting(ctx context.Context, secret string) (Visitor, error) {
	session, err := f.people.readSession(ctx, secret, f.people.Clock())
	if err != nil {
		return Visitor{}, err
	}
	user, err := f.people.Users.UserByID(ctx, session.UserID)
	if err != nil {
		return Visitor{}, signedOut(err)
	}
	return Visitor{Session: session, User: user, secret: secret}, nil
}

// Prove accepts a second factor of the person of this session. It replaces the session by
// one with a new secret and a recent proof, and returns the secret.
//
// It fails with validation_failed for a proof that is wrong or was used before, with
// rate_limited after too many wrong codes, and with invalid_key if there is no such
// session.
func (f *SecondFactors) Prove(ctx context.Context, secret string, p FactorProof) (string, error) {
	session, err := f.people.readSession(ctx, secret, f.people.Clock())
	if err != nil {
		return "", err
	}
	if p.Passkey.Ceremony != "" {
		if _, err := f.ceremonies.judge(ctx, p.Passkey, ceremonyConfirm, session.UserID); err != nil {
			return "", err
		}
		return f.recordProof(ctx, session.UserID, secret, p.RequestID, kindPasskey, acceptAny)
	}
	if err := f.count(session.UserID); err != nil {
		return "", err
	}
	code, with := readCode(p.Code), kindApp
	take := func(ctx context.Context, s Session) error { return f.takeStep(ctx, s.UserID, code, isConfirmed) }
	if len(code) == recoveryCodeLength {
		with = kindRecovery
		take = func(ctx context.Context, s Session) error { return f.takeRecoveryCode(ctx, s, code, p.RequestID) }
	}
	next, err := f.recordProof(ctx, session.UserID, secret, p.RequestID, with, take)
	if err == nil {
		f.tries.Forget(session.UserID)
	}
	return next, err
}

func acceptAny(context.Context, Session) error { return nil }

// recordProof calls the function take, which checks a proof. If the proof is accepted,
// recordProof replaces the session by one with a new secret and a recent proof, and returns
// the secret. The parameter with is the kind of factor for the audit log.
func (f *SecondFactors) recordProof(ctx context.Context, userID, secret, requestID, with string, take func(context.Context, Session) error) (string, error) {
	next := access.MintLink().Secret
	err := f.people.withPerson(ctx, userID, func(ctx context.Context) error {
		session, err := f.people.readSession(ctx, secret, f.people.Clock())
		if err != nil {
			return err
		}
		if err := take(ctx, session); err != nil {
			return err
		}
		action := "user.second_factor_proven"
		if session.AwaitsSecondFactor {
			action = "user.signed_in"
		}
		if session, err = f.renew(ctx, session, next); err != nil {
			return err
		}
		return f.people.audit(ctx, session, action, requestID, `{"second_factor":"`+with+`"}`)
	})
	if err != nil {
		return "", err
	}
	return next, nil
}

// renew replaces the session by a new one, in which a second factor was proved now and
// whose secret is next. It fails with invalid_key if the session was ended after the caller
// had read it.
func (f *SecondFactors) renew(ctx context.Context, session Session, next string) (Session, error) {
	now, store := f.people.Clock(), f.people.Sessions
	session.SecondFactorAt, session.LastSeenAt, session.ExpiresAt = &now, now, endOf(session.CreatedAt, now)
	if err := store.TouchSession(ctx, session); err != nil {
		return Session{}, signedOut(err)
	}
	if err := store.DeleteSession(ctx, session.Hash); err != nil {
		return Session{}, fmt.Errorf("end session: %w", err)
	}
	session.Hash, session.AwaitsSecondFactor = access.HashSecret(next), false
	if err := store.InsertSession(ctx, session); err != nil {
		return Session{}, fmt.Errorf("renew session: %w", err)
	}
	return session, nil
}
