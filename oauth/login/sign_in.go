package login

import (
	"net/http"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
)

// signInForm is what the sign-in page shows. A password is never shown again.
type signInForm struct {
	Next, Email string
	Problem     string // "" when nothing is wrong
	Passkeys    bool
}

// showSignIn shows the form, or to somebody who is signed in who that is.
func (s *Site) showSignIn(w http.ResponseWriter, r *http.Request) {
	next := localPath(r.URL.Query().Get("next"))
	visitor, err := s.Visitor(r)
	switch {
	case IsSignedOut(err):
		s.askSignInWith(w, r, http.StatusOK, signInForm{Next: next})
	case err != nil:
		s.Fail(w, r, err)
	case next != "":
		seeOther(w, next)
	default:
		s.showAccount(w, r, visitor)
	}
}

func (s *Site) showAccount(w http.ResponseWriter, r *http.Request, visitor access.Visitor) {
	orgs, err := s.Organizations(r, visitor)
	if err != nil {
		s.Fail(w, r, err)
		return
	}
	s.Show(w, r, http.StatusOK, s.pages.account, "Signed in", account{Visitor: visitor, Organizations: orgs})
}

func (s *Site) signIn(w http.ResponseWriter, r *http.Request) {
	form := signInForm{Next: localPath(r.PostForm.Get("next")), Email: r.PostForm.Get("email")}
	begun, err := s.sessions.SignIn(r.Context(), access.SignInRequest{
		Email: form.Email, Password: r.PostForm.Get("password"), Client: s.clientOf(r),
		Previous: s.cookie.read(r), RequestID: requestID(r),
	})
	if err != nil {
		s.signInRefused(w, r, form, core.AsError(err))
		return
	}
	s.cookie.set(w, begun.Secret)
	if begun.AwaitsSecondFactor {
		seeOther(w, withNext(SecondFactorPath, form.Next))
		return
	}
	seeOther(w, orHome(form.Next))
}

// askSignInWith shows the form.
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
