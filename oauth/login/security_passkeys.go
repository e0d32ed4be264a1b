package login

import (
	"net/http"

	"github.com/mailhelm/mailhelm/core/people"
)

// askNewPasskey sends the script the options for creating a passkey.
func (p *securityPages) askNewPasskey(w http.ResponseWriter, r *http.Request) {
	v, err := p.Visitor(r)
	if err != nil {
		p.answerQuestion(w, r, people.PasskeyQuestion{}, err)
		return
	}
	q, err := p.factors.BeginPasskey(r.Context(), v)
	p.answerQuestion(w, r, q, err)
}

func (p *securityPages) addPasskey(w http.ResponseWriter, r *http.Request) {
	v, ok := p.submitter(w, r)
	if !ok {
		return
	}
	added, err := p.factors.AddPasskey(r.Context(), v, r.PostForm.Get("name"), passkeyAnswer(r), requestID(r))
	if err != nil {
		p.refuseChange(w, r, v, err)
		return
	}
	p.cookies.session.set(w, added.Secret)
	p.showCodes(w, r, added.RecoveryCodes)
}

func (p *securityPages) renamePasskey(w http.ResponseWriter, r *http.Request) {
	p.applyChange(w, r, func(v people.Visitor) error {
		return p.factors.RenamePasskey(r.Context(), v, r.PostForm.Get("id"), r.PostForm.Get("name"))
	})
}

func (p *securityPages) removePasskey(w http.ResponseWriter, r *http.Request) {
	p.applyChange(w, r, func(v people.Visitor) error {
		return p.factors.RemovePasskey(r.Context(), v, r.PostForm.Get("id"), requestID(r))
	})
}
