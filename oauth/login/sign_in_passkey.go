package login

import (
	"net/http"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/people"
)

// signInWithPasskey checks the passkey's answer and begins a session of its owner.
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

// askSignIn returns the options of a sign-in to the script.
func (p *signInPages) askSignIn(w http.ResponseWriter, r *http.Request) {
	q, err := p.factors.AskSignIn(r.Context(), p.clientOf(r))
	p.answerQuestion(w, r, q, err)
}
