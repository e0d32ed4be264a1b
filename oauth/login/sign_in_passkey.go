package login

import (
	"net/http"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/people"
)

// signInWithPasskey verifies the response of a passkey and begins a session of the
// passkey's owner.
func (p *signInPages) signInWithPasskey(w http.ResponseWriter, r *http.Request) {
	next := localPath(r.PostForm.Get(fieldNext))
	secret, err := p.factors.SignIn(r.Context(), people.PasskeySignIn{
		Answer: passkeyAnswer(r), Client: p.clientOf(r), Previous: p.cookies.session.read(r), RequestID: requestID(r),
	})
	if err != nil {
		p.refuseSignIn(w, r, signInForm{Next: next}, core.AsError(err))
		return
	}
	p.setSession(w, r, secret)
	seeOther(w, pathOrSignIn(next))
}

// askSignIn sends the options for signing in with a passkey to the script of the sign-in
// page.
func (p *signInPages) askSignIn(w http.ResponseWriter, r *http.Request) {
	q, err := p.factors.AskSignIn(r.Context(), p.clientOf(r))
	p.answerQuestion(w, r, q, err)
}
