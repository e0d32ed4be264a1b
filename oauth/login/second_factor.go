package login

import (
	"html/template"
	"net/http"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/people"
)

// proofForm is the data of the pages that ask for a second factor.
type proofForm struct {
	Action, Next, Token string
	Problem             string // "" without a problem
	Email               string
	// Codes and Passkeys say which second factors the person has. With neither, the form
	// asks for the password.
	Codes, Passkeys bool
	Awaiting        bool
}

// proofPages serve the pages that ask for a second factor: to complete a sign-in, or to ask
// a signed-in person again before an account setting is changed.
type proofPages struct {
	*Entrance
	page *template.Template
}

// showProof shows the form for a second factor. The path /login/second-factor completes a
// sign-in. The path /login/confirm asks a person who is signed in for the factor again.
func (p *proofPages) showProof(w http.ResponseWriter, r *http.Request) {
	next := localPath(r.URL.Query().Get(fieldNext))
	v, ok := p.provingVisitor(w, r, next)
	if !ok {
		return
	}
	if !v.Session.AwaitsSecondFactor && r.URL.Path == SecondFactorPath {
		seeOther(w, pathOrSignIn(next))
		return
	}
	p.askProof(w, r, v, next, nil)
}

// askProof writes the form for a second factor. If wrong is not nil, the page shows this
// error.
func (p *proofPages) askProof(w http.ResponseWriter, r *http.Request, v people.Visitor, next string, wrong *core.Error) {
	has, err := p.factors.FactorsOf(r.Context(), v.User.ID)
	if err != nil {
		p.Fail(w, r, err)
		return
	}
	form := proofForm{
		Action: r.URL.Path, Next: next, Token: v.FormToken(r.URL.Path), Email: v.User.Email, Awaiting: v.Session.AwaitsSecondFactor,
		Codes: has.App != nil || has.CodesLeft > 0, Passkeys: len(has.Passkeys) > 0 && p.factors.OffersPasskeys(),
	}
	status, title := http.StatusOK, "Confirm your identity"
	if form.Awaiting {
		title = "Second factor"
	}
	if wrong != nil {
		status, form.Problem = wrong.HTTPStatus(), wrong.Message+" "+wrong.NextStep()
		retryLater(w, wrong)
	}
	if form.Passkeys {
		allowScript(w)
	}
	p.Show(w, r, status, p.page, title, form)
}

// prove checks the submitted second factor and redirects to the page in the field next.
func (p *proofPages) prove(w http.ResponseWriter, r *http.Request) {
	next := localPath(r.PostForm.Get(fieldNext))
	v, ok := p.provingVisitor(w, r, next)
	if !ok || !p.checkToken(w, r, v, r.URL.Path) {
		return
	}
	secret, err := p.factors.Prove(r.Context(), p.cookies.session.read(r), people.FactorProof{
		Code: r.PostForm.Get(fieldCode), Passkey: passkeyAnswer(r), RequestID: requestID(r),
	})
	if e := core.AsError(err); err != nil {
		switch e.Code {
		case core.CodeInvalidKey:
			p.AskToSignIn(w, next)
		case core.CodeInternalError, core.CodeTemporarilyUnavailable:
			p.Fail(w, r, err)
		default:
			p.logRefusal(r, "second factor", e)
			p.askProof(w, r, v, next, e)
		}
		return
	}
	p.setSession(w, r, secret)
	seeOther(w, pathOrSignIn(next))
}

// provingVisitor returns the person who must prove a second factor, whose sign-in may be
// incomplete. If it returns false, it has written the response: a redirect to the sign-in
// page, or an error.
func (p *proofPages) provingVisitor(w http.ResponseWriter, r *http.Request, next string) (people.Visitor, bool) {
	v, err := p.factors.FindAwaiting(r.Context(), p.cookies.session.read(r))
	if IsSignedOut(err) {
		p.AskToSignIn(w, next)
		return people.Visitor{}, false
	}
	if err != nil {
		p.Fail(w, r, err)
		return people.Visitor{}, false
	}
	return v, true
}

// askProofPasskey sends the page's script the options with which the browser asks for a
// passkey.
func (p *proofPages) askProofPasskey(w http.ResponseWriter, r *http.Request) {
	q, err := p.factors.AskPasskey(r.Context(), p.cookies.session.read(r))
	p.answerQuestion(w, r, q, err)
}
