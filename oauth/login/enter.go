package login

import (
	"fmt"
	"net/http"

	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
)

// Entrance begins sessions, on the sign-in pages and on the invitation page. On the
// invitation page a person creates an account or signs in to join an organization.
type Entrance struct {
	*Admission
	devices Devices
}

// setSession sets the session cookie. Unless the session still awaits a second factor, it
// also sets the cookie that marks the browser as known. If the second cookie cannot be
// made, the error is only logged.
func (e *Entrance) setSession(w http.ResponseWriter, r *http.Request, secret string) {
	e.cookies.session.set(w, secret)
	v, err := e.sessions.Current(r.Context(), secret)
	if IsSignedOut(err) {
		return
	}
	if err == nil {
		var device string
		if device, err = e.devices.Remember(r.Context(), v.User.ID, e.cookies.device.read(r)); err == nil {
			e.cookies.device.set(w, device)
			return
		}
	}
	e.logFailure(r, fmt.Errorf("remember the device: %w", err))
}

// Enter begins the first session of a person who has just joined their first organization,
// and ends the previous session in this browser.
func (e *Entrance) Enter(w http.ResponseWriter, r *http.Request, member members.Member) error {
	secret, err := e.sessions.BeginFirst(r.Context(), member, e.cookies.session.read(r), requestID(r))
	if err != nil {
		return err
	}
	e.setSession(w, r, secret)
	return nil
}

// ProvePassword checks a password, with the same limits and errors as signing in. It begins
// no session.
func (e *Entrance) ProvePassword(r *http.Request, email, password string) (access.User, error) {
	return e.sessions.ProvePassword(r.Context(), people.SignInRequest{
		Email: email, Password: password, Client: e.clientOf(r), Device: e.cookies.device.read(r), RequestID: requestID(r),
	})
}

// WorkIn switches the person's session to another organization that they belong to.
func (e *Entrance) WorkIn(r *http.Request, orgID string) error {
	return e.sessions.SwitchOrg(r.Context(), e.cookies.session.read(r), orgID)
}

// IsSignedOut reports whether an error means that no person is signed in.
func (*Entrance) IsSignedOut(err error) bool { return IsSignedOut(err) }

// SignInAddress returns the path of the sign-in page. After signing in, the browser goes to
// next, a path of this host with its query.
func (*Entrance) SignInAddress(next string) string { return signInAddress(localPath(next)) }
