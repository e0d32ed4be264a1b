package people

import (
	"context"

	"github.com/mailhelm/mailhelm/core/access"
)

// VisitorSession is the session of a visitor who changes the password. It implements
// Session of core/passwordchange.
type VisitorSession struct {
	visitor  Visitor
	sessions *Sessions
	factors  *SecondFactors
}

// SessionOf returns the session of a visitor.
func (f *SecondFactors) SessionOf(v Visitor) VisitorSession {
	return VisitorSession{visitor: v, sessions: f.people, factors: f}
}

// CheckProof calls [SecondFactors.CheckProof].
func (s VisitorSession) CheckProof(ctx context.Context) error {
	return s.factors.CheckProof(ctx, s.visitor)
}

// ProvePassword calls [Sessions.ProvePassword] with the visitor's address. client and
// device have the same meaning as in [SignInRequest].
func (s VisitorSession) ProvePassword(ctx context.Context, password, client, device string) (access.User, error) {
	return s.sessions.ProvePassword(ctx, SignInRequest{
		Email: s.visitor.User.Email, Password: password, Client: client, Device: device,
	})
}

// KeepOnly calls [Sessions.KeepOnly].
func (s VisitorSession) KeepOnly(ctx context.Context) (string, error) {
	return s.sessions.KeepOnly(ctx, s.visitor)
}
