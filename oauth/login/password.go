package login

import (
	"net/http"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/passwords"
	"github.com/mailhelm/mailhelm/core/people"
)

// passwordForm is the data of the pages on which a new password is chosen. It has no
// password.
type passwordForm struct {
	Email   string
	Token   string
	Problem string // "" without a problem
	Least   int    // the fewest characters of a password
	Factors bool   // the person has a second factor
}

// showPassword shows the form for the old and the new password. A person with a second
// factor has to prove it first.
func (s *Site) showPassword(w http.ResponseWriter, r *http.Request) {
	v, ok := s.signedIn(w, r, PasswordPath)
	if !ok {
		return
	}
	if err := s.factors.CheckProof(r.Context(), v); err != nil {
		s.passwordRefused(w, r, v, err)
		return
	}
	s.askPassword(w, r, v, nil)
}

func (s *Site) askPassword(w http.ResponseWriter, r *http.Request, v people.Visitor, wrong *core.Error) {
	form := passwordForm{Email: v.User.Email, Token: v.FormToken(PasswordPath), Least: passwords.Least}
	status := http.StatusOK
	if wrong != nil {
		status, form.Problem = wrong.HTTPStatus(), wrong.Message+" "+wrong.NextStep()
		retryLater(w, wrong)
	}
	s.Show(w, r, status, s.pages.password, "Change password", form)
}

// changePassword sets a new password and redirects to the security page.
func (s *Site) changePassword(w http.ResponseWriter, r *http.Request) {
	v, ok := s.signedIn(w, r, PasswordPath)
	if !ok || !s.current(w, r, v, PasswordPath) {
		return
	}
	next, err := chosenTwice(r)
	if err != nil {
		s.passwordRefused(w, r, v, err)
		return
	}
	secret, err := s.passwords.Change(r.Context(), people.Change{
		Visitor: v, Current: r.PostForm.Get(fieldCurrent), Next: next,
		Client: s.clientOf(r), Device: s.cookies.device.read(r), RequestID: requestID(r),
	})
	if err != nil {
		s.passwordRefused(w, r, v, err)
		return
	}
	s.cookies.session.set(w, secret)
	seeOther(w, SecurityPath+"?"+fieldReset)
}

func (s *Site) passwordRefused(w http.ResponseWriter, r *http.Request, v people.Visitor, err error) {
	e := core.AsError(err)
	switch {
	case people.IsProofNeeded(err):
		seeOther(w, withNext(ConfirmPath, PasswordPath))
	case IsSignedOut(err):
		s.AskToSignIn(w, PasswordPath)
	case e.IsFault():
		s.Fail(w, r, err)
	default:
		s.logRefusal(r, "change of password", e)
		s.askPassword(w, r, v, e)
	}
}

// chosenTwice returns the new password of a form with two fields for it. It fails with
// validation_failed when the two differ.
func chosenTwice(r *http.Request) (string, error) {
	next := r.PostForm.Get(fieldPassword)
	if next != r.PostForm.Get(fieldRepeated) {
		return "", &core.Error{
			Code: core.CodeValidationFailed, Message: "The two new passwords are not equal.", Next: "Type the new password twice.",
		}
	}
	return next, nil
}
