package login

import (
	"html/template"
	"net/http"
	"net/url"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/passwordchange"
	"github.com/mailhelm/mailhelm/core/passwords"
)

// ResetAddress returns the URL of a link that resets a password. appURL is the app's
// origin; secret identifies the reset.
func ResetAddress(appURL, secret string) string {
	return appURL + NewPasswordPath + "?" + url.Values{fieldToken: {secret}}.Encode()
}

// forgotten is the data of the page on which a person requests a link to reset the
// password.
type forgotten struct {
	Email   string
	Problem string // "" without a problem
	Mails   bool   // this installation can send mail
	Sent    bool   // a link was requested
}

// resetPages serve the page that mails a link to reset the password, and the page that the
// link opens.
type resetPages struct {
	*Admission
	passwords              *passwordchange.Passwords
	forgotten, newPassword *template.Template
}

func (p *resetPages) showForgotten(w http.ResponseWriter, r *http.Request) {
	p.Show(w, r, http.StatusOK, p.forgotten, "Forgotten password", forgotten{Mails: p.passwords.Mails()})
}

// askReset mails a link to reset the password. The response is the same whether or not the
// address has an account.
func (p *resetPages) askReset(w http.ResponseWriter, r *http.Request) {
	page := forgotten{Email: r.PostForm.Get(fieldEmail), Mails: p.passwords.Mails()}
	status := http.StatusOK
	if err := p.passwords.AskReset(r.Context(), page.Email, p.clientOf(r)); err != nil {
		e := core.AsError(err)
		if e.IsFault() {
			p.Fail(w, r, err)
			return
		}
		p.logRefusal(r, "link to reset a password", e)
		status, page.Problem = e.HTTPStatus(), e.Message+" "+e.NextStep()
		retryLater(w, e)
	} else {
		page.Sent = true
	}
	p.Show(w, r, status, p.forgotten, "Forgotten password", page)
}

// showNewPassword shows the form that a reset link opens. Opening the link changes nothing.
func (p *resetPages) showNewPassword(w http.ResponseWriter, r *http.Request) {
	p.askNewPassword(w, r, r.URL.Query().Get(fieldToken), nil)
}

// askNewPassword writes the form that a reset link opens. If wrong is not nil, the page
// shows this error. For an invalid link it shows the page for requesting a new one.
func (p *resetPages) askNewPassword(w http.ResponseWriter, r *http.Request, secret string, wrong *core.Error) {
	user, err := p.passwords.Resettable(r.Context(), secret)
	if err != nil {
		p.refuseReset(w, r, err)
		return
	}
	has, err := p.factors.FactorsOf(r.Context(), user.ID)
	if err != nil {
		p.Fail(w, r, err)
		return
	}
	form := passwordForm{Email: user.Email, Token: secret, Least: passwords.Least, Factors: has.Any()}
	status := http.StatusOK
	if wrong != nil {
		status, form.Problem = wrong.HTTPStatus(), wrong.Message+" "+wrong.NextStep()
	}
	p.Show(w, r, status, p.newPassword, "Choose a new password", form)
}

// resetPassword sets the new password from a reset link and redirects to the sign-in page.
func (p *resetPages) resetPassword(w http.ResponseWriter, r *http.Request) {
	secret := r.PostForm.Get(fieldToken)
	next, err := readNewPassword(r)
	if err == nil {
		err = p.passwords.Reset(r.Context(), passwordchange.UseReset{
			Secret: secret, Next: next, Client: p.clientOf(r), RequestID: requestID(r),
		})
	}
	if err == nil {
		p.cookies.session.clear(w)
		seeOther(w, SignInPath+"?"+fieldReset)
		return
	}
	if e := core.AsError(err); e.Code == core.CodeValidationFailed {
		p.logRefusal(r, "reset of a password", e)
		p.askNewPassword(w, r, secret, e)
		return
	}
	p.refuseReset(w, r, err)
}

// refuseReset writes the page for an invalid reset link, on which the person can request a
// new one. For other errors it writes the error page.
func (p *resetPages) refuseReset(w http.ResponseWriter, r *http.Request, err error) {
	e := core.AsError(err)
	if e.Code != core.CodeNotFound {
		p.Fail(w, r, err)
		return
	}
	p.logRefusal(r, "reset of a password", e)
	p.Show(w, r, e.HTTPStatus(), p.forgotten, "Forgotten password",
		forgotten{Mails: p.passwords.Mails(), Problem: e.Message + " " + e.NextStep()})
}
