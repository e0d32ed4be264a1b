package login

import (
	"html/template"
	"net/http"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/passwordchange"
	"github.com/mailhelm/mailhelm/core/passwords"
	"github.com/mailhelm/mailhelm/core/people"
)

// passwordForm is the data of the pages on which a person chooses a new password. It never
// contains a password.
type passwordForm struct {
	Email   string
	Token   string
	Problem string // "" without a problem
	Least   int    // the minimum length of a password, in characters
	Factors bool   // whether the person has a second factor
}

// passwordPages serve the page on which a signed-in person changes the password.
type passwordPages struct {
	*Admission
	passwords *passwordchange.Passwords
	page      *template.Template
}

// showPassword shows the form for the current and the new password. A person with a second
// factor must have confirmed with it recently. Otherwise showPassword redirects to the page
// that asks for the second factor.
func (p *passwordPages) showPassword(w http.ResponseWriter, r *http.Request) {
	v, ok := p.signedInVisitor(w, r, PasswordPath)
	if !ok {
		return
	}
	if err := p.factors.CheckProof(r.Context(), v); err != nil {
		p.refusePassword(w, r, v, err)
		return
	}
	p.askPassword(w, r, v, nil)
}

// askPassword writes the page that changes the password. If wrong is not nil, the page
// shows this error.
func (p *passwordPages) askPassword(w http.ResponseWriter, r *http.Request, v people.Visitor, wrong *core.Error) {
	form := passwordForm{Email: v.User.Email, Token: v.FormToken(PasswordPath), Least: passwords.Least}
	status := http.StatusOK
	if wrong != nil {
		status, form.Problem = wrong.HTTPStatus(), wrong.Message+" "+wrong.NextStep()
		retryLater(w, wrong)
	}
	p.showSignedIn(w, r, v, status, p.page, "Change password", form)
}

// changePassword sets a new password and redirects to the security page. The session gets a
// new secret.
func (p *passwordPages) changePassword(w http.ResponseWriter, r *http.Request) {
	v, ok := p.signedInVisitor(w, r, PasswordPath)
	if !ok || !p.checkToken(w, r, v, PasswordPath) {
		return
	}
	next, err := readNewPassword(r)
	if err != nil {
		p.refusePassword(w, r, v, err)
		return
	}
	secret, err := p.passwords.Change(r.Context(), passwordchange.Change{
		Session: p.factors.SessionOf(v), Current: r.PostForm.Get(fieldCurrent), Next: next,
		Client: p.clientOf(r), Device: p.cookies.device.read(r), RequestID: requestID(r),
	})
	if err != nil {
		p.refusePassword(w, r, v, err)
		return
	}
	p.cookies.session.set(w, secret)
	seeOther(w, SecurityPath+"?"+fieldReset)
}

// refusePassword answers a failed change of a password. If the person must first prove a
// second factor or sign in, it redirects to the page for this step. For an internal error
// it writes the error page. Otherwise it shows the form with the error.
func (p *passwordPages) refusePassword(w http.ResponseWriter, r *http.Request, v people.Visitor, err error) {
	e := core.AsError(err)
	switch {
	case people.IsProofNeeded(err):
		seeOther(w, withNext(ConfirmPath, PasswordPath))
	case IsSignedOut(err):
		p.AskToSignIn(w, PasswordPath)
	case e.IsFault():
		p.Fail(w, r, err)
	default:
		p.logRefusal(r, "change of password", e)
		p.askPassword(w, r, v, e)
	}
}

// readNewPassword returns the new password from a form with two fields for it. It fails with
// validation_failed if the two differ.
func readNewPassword(r *http.Request) (string, error) {
	next := r.PostForm.Get(fieldPassword)
	if next != r.PostForm.Get(fieldRepeated) {
		return "", &core.Error{
			Code: core.CodeValidationFailed, Message: "The two new passwords are not equal.", Next: "Type the new password twice.",
		}
	}
	return next, nil
}
