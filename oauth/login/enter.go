package login

import (
	"net/http"

	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
)

// Enter begins the first session of a new account. It ends the browser's previous
// session.
func (s *Site) Enter(w http.ResponseWriter, r *http.Request, member members.Member) error {
	secret, err := s.sessions.BeginFirst(r.Context(), member, s.cookies.session.read(r), requestID(r))
	if err != nil {
		return err
	}
	s.letIn(w, r, secret)
	return nil
}

// ProvePassword checks a password, with the throttle and the errors of signing in. It
// begins no session.
func (s *Site) ProvePassword(r *http.Request, email, password string) (access.User, error) {
	return s.sessions.ProvePassword(r.Context(), people.SignInRequest{
		Email: email, Password: password, Client: s.clientOf(r), Device: s.cookies.device.read(r), RequestID: requestID(r),
	})
}

// WorkIn switches the visitor's session to another of their organizations.
func (s *Site) WorkIn(r *http.Request, orgID string) error {
	return s.sessions.SwitchOrg(r.Context(), s.cookies.session.read(r), orgID)
}

// SignedOut reports whether an error means that no person is signed in.
func (*Site) SignedOut(err error) bool { return IsSignedOut(err) }

// SignInAddress returns the path of the sign-in page that continues to next, a path of
// this host with its query.
func (*Site) SignInAddress(next string) string { return signInAddress(localPath(next)) }
