package login

import (
	"html/template"
	"net/http"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/people"
)

// signInForm is the data of the sign-in page. It never contains a password.
type signInForm struct {
	Next, Email string
	Problem     string // "" without a problem
	Notice      string // a sentence that says what the previous form changed, or ""
	Passkeys    bool
}

// signInPages serve the sign-in page and the account page of a signed-in person.
type signInPages struct {
	*Entrance
	form, signedIn *template.Template
}

// account is the data of the account page, which shows who is signed in and the person's
// organizations.
type account struct {
	Visitor       people.Visitor
	Organizations []core.Org
}

// showSignIn shows the sign-in page. A signed-in person is redirected to the path in the
// query parameter next. Without this parameter, a signed-in person gets the account page.
func (p *signInPages) showSignIn(w http.ResponseWriter, r *http.Request) {
	next := localPath(r.URL.Query().Get("next"))
	visitor, err := p.Visitor(r)
	switch {
	case IsSignedOut(err):
		form := signInForm{Next: next}
		if r.URL.Query().Has(fieldReset) {
			form.Notice = "Your new password is set. Sign in with it."
		}
		p.askSignInWith(w, r, http.StatusOK, form)
	case err != nil:
		p.Fail(w, r, err)
	case next != "":
		seeOther(w, next)
	default:
		p.showAccount(w, r, visitor)
	}
}

func (p *signInPages) showAccount(w http.ResponseWriter, r *http.Request, visitor people.Visitor) {
	orgs, err := p.Organizations(r, visitor)
	if err != nil {
		p.Fail(w, r, err)
		return
	}
	p.Show(w, r, http.StatusOK, p.signedIn, "Signed in", account{Visitor: visitor, Organizations: orgs})
}

// signIn checks the email address and the password, sets the cookies and redirects to the
// path in the form field next. A person with a second factor continues to the page that
// asks for it.
func (p *signInPages) signIn(w http.ResponseWriter, r *http.Request) {
	form := signInForm{Next: localPath(r.PostForm.Get("next")), Email: r.PostForm.Get("email")}
	begun, err := p.sessions.SignIn(r.Context(), people.SignInRequest{
		Email: form.Email, Password: r.PostForm.Get("password"), Client: p.clientOf(r), Device: p.cookies.device.read(r),
		Previous: p.cookies.session.read(r), RequestID: requestID(r),
	})
	if err != nil {
		p.refuseSignIn(w, r, form, core.AsError(err))
		return
	}
	p.setSession(w, r, begun.Secret)
	if begun.AwaitsSecondFactor {
		seeOther(w, withNext(SecondFactorPath, form.Next))
		return
	}
	seeOther(w, pathOrSignIn(form.Next))
}

// askSignInWith writes the form.
func (p *signInPages) askSignInWith(w http.ResponseWriter, r *http.Request, status int, form signInForm) {
	if form.Passkeys = p.factors.OffersPasskeys(); form.Passkeys {
		allowScript(w)
	}
	p.Show(w, r, status, p.form, "Sign in", form)
}

// refuseSignIn writes the sign-in page with the error. For an internal error it writes the
// error page.
func (p *signInPages) refuseSignIn(w http.ResponseWriter, r *http.Request, form signInForm, e *core.Error) {
	if e.IsFault() {
		p.Fail(w, r, e)
		return
	}
	p.logRefusal(r, "sign-in", e)
	form.Problem = e.Message + " " + e.NextStep()
	retryLater(w, e)
	p.askSignInWith(w, r, e.HTTPStatus(), form)
}
