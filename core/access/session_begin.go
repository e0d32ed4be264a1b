package access

import "context"

// BeginFirst begins the first session of somebody whose account has just been
// made, who has no second factor yet, in the organization they joined. It returns
// the secret for the cookie. Previous is like that of [SignInRequest]. It fails
// with not_found when the person is no member there.
func (s *Sessions) BeginFirst(ctx context.Context, member Member, previous, requestID string) (string, error) {
	if _, err := s.Members.Member(ctx, member.OrgID, member.UserID); err != nil {
		return "", err
	}
	now := s.Clock()
	session := Session{UserID: member.UserID, OrgID: member.OrgID, CreatedAt: now, LastSeenAt: now, ExpiresAt: endOf(now, now)}
	return s.begin(ctx, session, previous, func(ctx context.Context, session *Session) error {
		return s.audit(ctx, *session, "user.signed_in", requestID, "{}")
	})
}

// ProvePassword checks a password like [Sessions.SignIn], throttled with it, for
// somebody who belongs to no organization and so cannot have a session. It is no
// sign-in: a second factor is not asked for.
func (s *Sessions) ProvePassword(ctx context.Context, in SignInRequest) (User, error) {
	if err := s.admit(in); err != nil {
		return User{}, err
	}
	user, err := s.checkPassword(ctx, in)
	if err == nil {
		s.byAddress.forget(addressKey(in.Email))
	}
	return user, err
}
