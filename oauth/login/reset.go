package login

import (
	"net/http"
	"net/url"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/passwords"
	"github.com/mailhelm/mailhelm/core/people"
)

// ResetAddress returns the URL of a reset link. appURL is the app's origin.
func ResetAddress(appURL, secret string) string {
	return appURL + NewPasswordPath + "?" + url.Values{fieldToken: {secret}}.Encode()
}

// forgotten is the data of the page for requesting a reset link.
type forgotten struct {
	Email   string
	Problem string // "" without a problem
	Mails   bool   // this installation can send mail
	Sent    bool   // a link was requested
}

func (s *Site) showForgotten(w http.ResponseWriter, r *http.Request) {
	s.Show(w, r, http.StatusOK, s.pages.forgotten, "Forgotten password", forgotten{Mails: s.passwords.Mails()})
}

// askReset mails a reset link. The response is the same whether or not the address has
// an account.
func (s *Site) askReset(w http.ResponseWriter, r *http.Request) {
	page := forgotten{Email: r.PostForm.Get(fieldEmail), Mails: s.passwords.Mails()}
	status := http.StatusOK
	if err := s.passwords.AskReset(r.Context(), page.Email, s.clientOf(r)); err != nil {
		e := core.AsError(err)
		if e.IsFault() {
			s.Fail(w, r, err)
			return
		}
		s.logRefusal(r, "link to reset a password", e)
		status, page.Problem = e.HTTPStatus(), e.Message+" "+e.NextStep()
		retryLater(w, e)
	} else {
		page.Sent = true
	}
	s.Show(w, r, status, s.pages.forgotten, "Forgotten password", page)
}

// showNewPassword shows the form behind a reset link. Opening the link changes nothing.
func (s *Site) showNewPassword(w http.ResponseWriter, r *http.Request) {
	s.askNewPassword(w, r, r.URL.Query().Get(fieldToken), nil)
}

func (s *Site) askNewPassword(w http.ResponseWriter, r *http.Request, secret string, wrong *core.Error) {
	user, err := s.passwords.Resettable(r.Context(), secret)
	if err != nil {
		s.resetRefused(w, r, err)
		return
	}
	has, err := s.factors.Of(r.Context(), user.ID)
	if err != nil {
		s.Fail(w, r, err)
		return
	}
	form := passwordForm{Email: user.Email, Token: secret, Least: passwords.Least, Factors: has.Any()}
	status := http.StatusOK
	if wrong != nil {
		status, form.Problem = wrong.HTTPStatus(), wrong.Message+" "+wrong.NextStep()
	}
	s.Show(w, r, status, s.pages.newPassword, "Choose a new password", form)
}

// resetPassword sets the new password and redirects to the sign-in page.
func (s *Site) resetPassword(w http.ResponseWriter, r *http.Request) {
	secret := r.PostForm.Get(fieldToken)
	next, err := chosenTwice(r)
	if err == nil {
		err = s.passwords.Reset(r.Context(), people.UseReset{
			Secret: secret, Next: next, Client: s.clientOf(r), RequestID: requestID(r),
		})
	}
	if err == nil {
		s.cookies.session.clear(w)
		seeOther(w, SignInPath+"?"+fieldReset)
		return
	}
	if e := core.AsError(err); e.Code == core.CodeValidationFailed {
		s.logRefusal(r, "reset of a password", e)
		s.askNewPassword(w, r, secret, e)
		return
	}
	s.resetRefused(w, r, err)
}

// resetRefused writes the page for an invalid link, with a way to request a new one.
func (s *Site) resetRefused(w http.ResponseWriter, r *http.Request, err error) {
	e := core.AsError(err)
	if e.Code != core.CodeNotFound {
		s.Fail(w, r, err)
		return
	}
	s.logRefusal(r, "reset of a password", e)
	s.Show(w, r, e.HTTPStatus(), s.pages.forgotten, "Forgotten password",
		forgotten{Mails: s.passwords.Mails(), Problem: e.Message + " " + e.NextStep()})
}
