package login

import (
	_ "embed" // the script
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/people"
)

//go:embed pages/passkey.js
var passkeyScript []byte

// signInWithPasskey checks the passkey's answer and begins a session of its owner.
func (s *Site) signInWithPasskey(w http.ResponseWriter, r *http.Request) {
	next := localPath(r.PostForm.Get(fieldNext))
	secret, err := s.factors.SignIn(r.Context(), people.PasskeySignIn{
		Answer: passkeyAnswer(r), Client: s.clientOf(r), Previous: s.cookies.session.read(r), RequestID: requestID(r),
	})
	if err != nil {
		s.signInRefused(w, r, signInForm{Next: next}, core.AsError(err))
		return
	}
	s.letIn(w, r, secret)
	seeOther(w, orHome(next))
}

// askSignIn returns the options of a sign-in to the script.
func (s *Site) askSignIn(w http.ResponseWriter, r *http.Request) {
	q, err := s.factors.AskSignIn(r.Context(), s.clientOf(r))
	s.question(w, r, q, err)
}

// askProofPasskey returns the options of a proof to the script.
func (s *Site) askProofPasskey(w http.ResponseWriter, r *http.Request) {
	q, err := s.factors.AskPasskey(r.Context(), s.cookies.session.read(r))
	s.question(w, r, q, err)
}

// askNewPasskey returns the options for a new passkey to the script.
func (s *Site) askNewPasskey(w http.ResponseWriter, r *http.Request) {
	v, err := s.Visitor(r)
	if err != nil {
		s.question(w, r, people.PasskeyQuestion{}, err)
		return
	}
	q, err := s.factors.BeginPasskey(r.Context(), v)
	s.question(w, r, q, err)
}

// question writes the response to the script: {"ceremony", "options"}, or {"problem"}
// with a text for the person.
func (s *Site) question(w http.ResponseWriter, r *http.Request, q people.PasskeyQuestion, err error) {
	status := http.StatusOK
	content := map[string]any{"ceremony": q.Ceremony, "options": json.RawMessage(q.Options)}
	if err != nil {
		e := core.AsError(err)
		if e.IsFault() {
			s.logFailure(r, err)
			e = &core.Error{Code: e.Code, Message: "Something failed on our side.", Next: "Try again in a moment.", RetryAfter: e.RetryAfter}
		}
		retryLater(w, e)
		status, content = e.HTTPStatus(), map[string]any{"problem": e.Message + " " + e.NextStep()}
	}
	body, err := json.Marshal(content)
	if err != nil {
		s.Fail(w, r, err)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // a client that has disconnected is not an error
}
