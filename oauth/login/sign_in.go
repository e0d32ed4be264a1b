package login

import (
	"fmt"
	"net/http"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/people"
)

// signInForm is the data of the sign-in page. It has no password.
type signInForm struct {
	Next, Email string
	Problem     string // "" without a problem
	Notice      string // the result of the last action, or ""
	Passkeys    bool
}

// showSignIn shows the form. A signed-in visitor gets the account page instead.
func (s *Site) showSignIn(w http.ResponseWriter, r *http.Request) {
	next := localPath(r.URL.Query().Get("next"))
	visitor, err := s.Visitor(r)
	switch {
	case IsSignedOut(err):
		form := signInForm{Next: next}
		if r.URL.Query().Has(fieldReset) {
			form.Notice = "Your new password is set. Sign in with it."
		}
		s.askSignInWith(w, r, http.StatusOK, form)
	case err != nil:
		s.Fail(w, r, err)
	case next != "":
		seeOther(w, next)
	default:
		s.showAccount(w, r, visitor)
	}
}

func (s *Site) showAccount(w http.ResponseWriter, r *http.Request, visitor people.Visitor) {
	orgs, err := s.Organizations(r, visitor)
	if err != nil {
		s.Fail(w, r, err)
		return
	}
	s.Show(w, r, http.StatusOK, s.pages.account, "Signed in", account{Visitor: visitor, Organizations: orgs})
}

func (s *Site) signIn(w http.ResponseWriter, r *http.Request) {
	form := signInForm{Next: localPath(r.PostForm.Get("next")), Email: r.PostForm.Get("email")}
	begun, err := s.sessions.SignIn(r.Context(), people.SignInRequest{
		Email: form.Email, Password: r.PostForm.Get("password"), Client: s.clientOf(r), Device: s.cookies.device.read(r),
		Previous: s.cookies.session.read(r), RequestID: requestID(r),
	})
	if err != nil {
		s.signInRefused(w, r, form, core.AsError(err))
		return
	}
	s.letIn(w, r, begun.Secret)
	if begun.AwaitsSecondFactor {
		seeOther(w, withNext(SecondFactorPath, form.Next))
		return
	}
	seeOther(w, orHome(form.Next))
}

// letIn sets the session cookie. It remembers the device unless the session still
// awaits a second factor. The sign-in succeeds even if the device cannot be stored.
func (s *Site) letIn(w http.ResponseWriter, r *http.Request, secret string) {
	s.cookies.session.set(w, secret)
	v, err := s.sessions.Current(r.Context(), secret)
	if IsSignedOut(err) {
		return
	}
	if err == nil {
		var device string
		if device, err = s.devices.Remember(r.Context(), v.User.ID, s.cookies.device.read(r)); err == nil {
			s.cookies.device.set(w, device)
			return
		}
	}
	s.logFailure(r, fmt.Errorf("remember the device: %w", err))
}

// askSignInWith writes the form.
func (s *Site) askSignInWith(w http.ResponseWriter, r *http.Request, status int, form signInForm) {
	if form.Passkeys = s.factors.PasskeysOffered(); form.Passkeys {
		allowScript(w)
	}
	s.Show(w, r, status, s.pages.signIn, "Sign in", form)
}

func (s *Site) signInRefused(w http.ResponseWriter, r *http.Request, form signInForm, e *core.Error) {
	if e.IsFault() {
		s.Fail(w, r, e)
		return
	}
	s.logRefusal(r, "sign-in", e)
	form.Problem = e.Message + " " + e.NextStep()
	retryLater(w, e)
	s.askSignInWith(w, r, e.HTTPStatus(), form)
}
