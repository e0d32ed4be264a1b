package people

import (
	"context"
	"errors"
	"fmt"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/passwords"
)

// hashesAtOnce is the greatest number of passwords that are hashed at the same time. It
// limits memory and processor time: one hash takes 19 MiB.
const hashesAtOnce = 4

var (
	errWrongPassword = errors.New("unknown address or wrong password")
	errNoMembership  = errors.New("the user belongs to no organization")
	errDisabled      = errors.New("the operator disabled the account")
)

// SignInRequest is an attempt to sign in.
type SignInRequest struct {
	Email    string
	Password string
	// Client is the IP address or network of the attempt, for the limits on guessing.
	Client string
	// Device is the secret of a known device, or "".
	Device string
	// Previous is the secret of the session that the browser had, or "". That session ends,
	// even if it belongs to another person.
	Previous  string
	RequestID string
}

// Begun is the result of signing in: a new session.
type Begun struct {
	// Secret is the value for the session cookie. Every sign-in creates a new secret.
	Secret string
	// AwaitsSecondFactor is true if the session gives access to no page until
	// [SecondFactors.Prove] is called.
	AwaitsSecondFactor bool
}

// SignIn checks a password and begins a session. The session is in the organization of the
// browser's previous session, if that session was the same person's. Otherwise it is in the
// person's first organization. If the person has a second factor, the session cannot be
// used until that factor is proved.
//
// An unknown address, a wrong password and a person without an organization fail with
// invalid_key and the same text. A disabled account fails with invalid_key and a text of its
// own, but only after the right password. An unknown address and a wrong password also take the same
// work. Too many attempts fail with rate_limited, whether or not the address exists.
func (s *Sessions) SignIn(ctx context.Context, in SignInRequest) (Begun, error) {
	user, err := s.ProvePassword(ctx, in)
	if err != nil {
		return Begun{}, err
	}
	session, err := s.newSession(ctx, user.ID, in.Previous)
	if err != nil {
		return Begun{}, err
	}
	var awaits bool
	secret, err := s.begin(ctx, session, in.Previous, func(ctx context.Context, session *Session) error {
		if err := s.requireSamePassword(ctx, user); err != nil {
			return err
		}
		factors, err := s.factorsOf(ctx, user.ID)
		if err != nil {
			return err
		}
		action := "user.signed_in"
		if awaits = factors.Any(); awaits {
			action = "user.second_factor_asked"
			session.AwaitsSecondFactor, session.ExpiresAt = true, session.CreatedAt.Add(SecondFactorWait)
		}
		return s.audit(ctx, *session, action, in.RequestID, "{}")
	})
	return Begun{Secret: secret, AwaitsSecondFactor: awaits}, err
}

// requireSamePassword fails with invalid_key if the password was changed after this sign-in
// had checked it. A change of the password ends the earlier sessions, so no session may
// begin with the old password.
func (s *Sessions) requireSamePassword(ctx context.Context, checked access.User) error {
	now, err := s.Users.UserByID(ctx, checked.ID)
	if err != nil {
		return signedOut(err)
	}
	if now.PasswordHash != checked.PasswordHash {
		return signInError(errWrongPassword)
	}
	return nil
}

// newSession returns a new session of a person, without a secret. previous is the secret of
// the browser's earlier session. If the same person had that session, the new session has
// its organization.
func (s *Sessions) newSession(ctx context.Context, userID, previous string) (Session, error) {
	now := s.Clock()
	session := Session{UserID: userID, CreatedAt: now, LastSeenAt: now, ExpiresAt: endOf(now, now)}
	before, err := s.readSession(ctx, previous, now)
	switch {
	case ignoreSignedOut(err) != nil:
		return Session{}, err
	case err == nil && before.UserID == userID:
		session.OrgID = before.OrgID
	}
	member, err := s.memberOf(ctx, session)
	session.OrgID = member.OrgID
	return session, err
}

// begin ends the previous session, stores session under a new secret, and returns the
// secret. The function complete sets further fields of the session. The transaction locks
// the person, because the person may add a second factor at the same time. The new session
// then either requires that second factor or is ended by the call that adds it.
func (s *Sessions) begin(ctx context.Context, session Session, previous string, complete func(context.Context, *Session) error) (string, error) {
	secret := access.MintLink().Secret
	session.Hash = access.HashSecret(secret)
	err := s.Tx.InTx(ctx, func(ctx context.Context) error {
		if err := s.Users.HoldUser(ctx, session.UserID); err != nil {
			return signedOut(err)
		}
		if err := s.end(ctx, previous); err != nil {
			return err
		}
		if err := s.requireEnabled(ctx, session.UserID); err != nil {
			return err
		}
		begun := session // a copy, because this function runs again if the transaction is retried
		if err := complete(ctx, &begun); err != nil {
			return err
		}
		if err := s.Sessions.InsertSession(ctx, begun); err != nil {
			return fmt.Errorf("begin session: %w", err)
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	return secret, nil
}

// requireEnabled fails with invalid_key if the operator has disabled the person's account.
func (s *Sessions) requireEnabled(ctx context.Context, userID string) error {
	user, err := s.Users.UserByID(ctx, userID)
	if err != nil {
		return signedOut(err)
	}
	if user.DisabledAt != nil {
		return disabledError()
	}
	return nil
}

// SignOut ends the session with this secret, even one that awaits its second factor. If
// there is no such session, it does nothing.
func (s *Sessions) SignOut(ctx context.Context, secret, requestID string) error {
	session, err := s.readSession(ctx, secret, s.Clock())
	if err != nil {
		return ignoreSignedOut(err)
	}
	return s.Tx.InTx(ctx, func(ctx context.Context) error {
		if err := s.end(ctx, secret); err != nil {
			return err
		}
		return s.audit(ctx, session, "user.signed_out", requestID, "{}")
	})
}

// SignOutEverywhere ends all sessions of the person to whom the session with this secret
// belongs.
func (s *Sessions) SignOutEverywhere(ctx context.Context, secret, requestID string) error {
	session, err := s.find(ctx, secret, s.Clock())
	if err != nil {
		return ignoreSignedOut(err)
	}
	return s.Tx.InTx(ctx, func(ctx context.Context) error {
		if err := s.Sessions.DeleteSessionsOf(ctx, session.UserID); err != nil {
			return fmt.Errorf("end sessions: %w", err)
		}
		return s.audit(ctx, session, "user.signed_out", requestID, `{"everywhere":true}`)
	})
}

// checkPassword returns the person with the address and password. It fails with invalid_key
// if either is wrong, or if the account is disabled. For an unknown address it verifies the password against a decoy hash,
// so that both failures take equally long.
func (s *Sessions) checkPassword(ctx context.Context, in SignInRequest) (access.User, error) {
	user, err := s.findUser(ctx, in.Email)
	if err != nil {
		return access.User{}, err
	}
	known, hash := user.ID != "", user.PasswordHash
	if !known {
		hash = s.decoy
	}
	leave, err := s.enterHashing(ctx)
	if err != nil {
		return access.User{}, err
	}
	defer leave()
	matches, err := passwords.Verify(hash, in.Password)
	if err != nil {
		return access.User{}, fmt.Errorf("stored password hash: %w", err)
	}
	if !matches || !known {
		return access.User{}, signInError(errWrongPassword)
	}
	if user.DisabledAt != nil {
		return access.User{}, disabledError()
	}
	return user, nil
}

// enterHashing waits while the maximum number of passwords (hashesAtOnce) is being hashed.
// The caller must call leave after hashing. It fails if ctx ends first.
func (s *Sessions) enterHashing(ctx context.Context) (leave func(), err error) {
	select {
	case s.hashing <- struct{}{}:
		return func() { <-s.hashing }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// HashPassword returns the hash of a password, as [passwords.Cost.Hash] does. It first waits
// while the maximum number of passwords (hashesAtOnce) is being hashed.
func (s *Sessions) HashPassword(ctx context.Context, password string) (string, error) {
	leave, err := s.enterHashing(ctx)
	if err != nil {
		return "", err
	}
	defer leave()
	return s.PasswordCost.Hash(password)
}

// findUser returns the user with an address, or the zero user if there is none. It does not
// query the store for an invalid address, because a database refuses text with some bytes,
// such as zero bytes.
func (s *Sessions) findUser(ctx context.Context, email string) (access.User, error) {
	if !core.IsEmail(email) {
		return access.User{}, nil
	}
	user, err := s.Users.UserByEmail(ctx, email)
	if core.IsNotFound(err) {
		return access.User{}, nil
	}
	if err != nil {
		return access.User{}, fmt.Errorf("find user: %w", err)
	}
	return user, nil
}

// end deletes the session with this secret. It succeeds if there is none.
func (s *Sessions) end(ctx context.Context, secret string) error {
	if secret == "" {
		return nil
	}
	if err := s.Sessions.DeleteSession(ctx, access.HashSecret(secret)); err != nil && !core.IsNotFound(err) {
		return fmt.Errorf("end session: %w", err)
	}
	return nil
}

// audit adds an event to the audit log of the session's organization.
func (s *Sessions) audit(ctx context.Context, session Session, action, requestID, detail string) error {
	return s.Audit.AppendAudit(ctx, access.AuditEvent{
		ID: core.NewID(), OrgID: session.OrgID, OccurredAt: s.Clock(), Action: action, ActorKind: "user",
		ActorID: session.UserID, Surface: App, SubjectID: session.UserID, RequestID: requestID, Detail: detail,
	})
}

// AuditEverywhere adds an event to the audit log of every organization of a person. Its
// surface is [App] if a person caused it, and otherwise "".
func (c SessionsConfig) AuditEverywhere(ctx context.Context, by access.Actor, userID, action, requestID string) error {
	members, err := c.Members.MembershipsOf(ctx, userID)
	if err != nil {
		return fmt.Errorf("memberships: %w", err)
	}
	var surface core.Surface
	if by.Kind == access.Person {
		surface = App
	}
	for _, member := range members {
		err := c.Audit.AppendAudit(ctx, access.AuditEvent{
			ID: core.NewID(), OrgID: member.OrgID, OccurredAt: c.Clock(), Action: action,
			ActorKind: by.Kind, ActorID: by.ID, Surface: surface, SubjectID: userID, RequestID: requestID, Detail: "{}",
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func signInError(cause error) error {
	return &core.Error{
		Code: core.CodeInvalidKey, Message: "The address or the password is wrong.",
		Next: "Check both and try again.", Err: cause,
	}
}

// disabledError returns the error for a person whom the operator has disabled. Only a person
// who has proved the password or a passkey gets its text.
func disabledError() error {
	return &core.Error{
		Code: core.CodeInvalidKey, Message: "This account is disabled.",
		Next: "Ask the operator of this server to enable it.", Err: errDisabled,
	}
}

func ignoreSignedOut(err error) error {
	if e, ok := errors.AsType[*core.Error](err); ok && e.Code == core.CodeInvalidKey {
		return nil
	}
	return err
}
