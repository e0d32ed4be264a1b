package people

import (
	"context"
	"errors"
	"fmt"

	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/members"
)

// BeginFirst begins the first session of a new account, in the organization that the person
// joined, and returns the secret for its cookie. previous has the same meaning as
// [SignInRequest].Previous. It fails with not_found if the person is not a member of that
// organization.
func (s *Sessions) BeginFirst(ctx context.Context, member members.Member, previous, requestID string) (string, error) {
	if _, err := s.Members.Member(ctx, member.OrgID, member.UserID); err != nil {
		return "", err
	}
	now := s.Clock()
	session := Session{UserID: member.UserID, OrgID: member.OrgID, CreatedAt: now, LastSeenAt: now, ExpiresAt: endOf(now, now)}
	return s.begin(ctx, session, previous, func(ctx context.Context, session *Session) error {
		return s.audit(ctx, *session, "user.signed_in", requestID, "{}")
	})
}

// ProvePassword checks a password as [Sessions.SignIn] does, but begins no session and
// ignores second factors. It is for a person without an organization, who cannot have a
// session, and for a signed-in person who must repeat the password.
func (s *Sessions) ProvePassword(ctx context.Context, in SignInRequest) (access.User, error) {
	if err := s.Attempts.Admit(ctx, in); err != nil {
		return access.User{}, err
	}
	user, err := s.checkPassword(ctx, in)
	switch {
	case err == nil:
		s.Attempts.ClearFailures(in)
	case errors.Is(err, errWrongPassword):
		s.Attempts.CountFailure(ctx, in)
	}
	return user, err
}

// KeepOnly gives the visitor's session a new secret, which it returns, and ends all other
// sessions of the person. It takes part in the transaction of ctx. It fails with invalid_key
// when the session has ended.
func (s *Sessions) KeepOnly(ctx context.Context, v Visitor) (string, error) {
	session, err := s.find(ctx, v.secret, s.Clock())
	if err != nil {
		return "", err
	}
	next, now := access.MintLink().Secret, s.Clock()
	session.LastSeenAt, session.ExpiresAt = now, endOf(session.CreatedAt, now)
	// TouchSession locks the session. It fails if the session was signed out since it was
	// read.
	if err := s.Sessions.TouchSession(ctx, session); err != nil {
		return "", signedOut(err)
	}
	session.Hash = access.HashSecret(next)
	if err := s.Sessions.DeleteSessionsOf(ctx, v.User.ID); err != nil {
		return "", fmt.Errorf("end sessions: %w", err)
	}
	if err := s.Sessions.InsertSession(ctx, session); err != nil {
		return "", fmt.Errorf("renew session: %w", err)
	}
	return next, nil
}
