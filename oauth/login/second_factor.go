package login

import (
	"log/slog"
	"math"
	"net/http"
	"strconv"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/people"
)

// The names of form fields.
const (
	fieldNext     = "next"
	fieldToken    = "token"
	fieldCode     = "code"
	fieldCeremony = "ceremony"
	fieldAnswer   = "answer"
	fieldEmail    = "email"
	fieldCurrent  = "current"
	fieldPassword = "password"
	fieldRepeated = "repeated"
	// fieldReset marks the address of a page that opens after a password was set.
	fieldReset = "password-set"
)

// proofForm is the data of the pages that request a second factor.
type proofForm struct {
	Action, Next, Token string
	Problem             string // "" without a problem
	Email               string
	// Codes and Passkeys are the factors that the person has. With neither, the form
	// requests the password.
	Codes, Passkeys bool
	Awaiting        bool
}

// showProof shows the form for a second factor. /login/second-factor is for a session
// that awaits it, /login/confirm for an open one.
func (s *Site) showProof(w http.ResponseWriter, r *http.Request) {
	next := localPath(r.URL.Query().Get(fieldNext))
	v, ok := s.asked(w, r, next)
	if !ok {
		return
	}
	if !v.Session.AwaitsSecondFactor && r.URL.Path == SecondFactorPath {
		seeOther(w, orHome(next))
		return
	}
	s.askProof(w, r, v, next, nil)
}

// askProof writes the form, with the error in wrong unless it is nil.
func (s *Site) askProof(w http.ResponseWriter, r *http.Request, v people.Visitor, next string, wrong *core.Error) {
	has, err := s.factors.Of(r.Context(), v.User.ID)
	if err != nil {
		s.Fail(w, r, err)
		return
	}
	form := proofForm{
		Action: r.URL.Path, Next: next, Token: v.FormToken(r.URL.Path), Email: v.User.Email, Awaiting: v.Session.AwaitsSecondFactor,
		Codes: has.App != nil || has.CodesLeft > 0, Passkeys: len(has.Passkeys) > 0 && s.factors.PasskeysOffered(),
	}
	status, title := http.StatusOK, "Confirm that it is you"
	if form.Awaiting {
		title = "Second step"
	}
	if wrong != nil {
		status, form.Problem = wrong.HTTPStatus(), wrong.Message+" "+wrong.NextStep()
		retryLater(w, wrong)
	}
	if form.Passkeys {
		allowScript(w)
	}
	s.Show(w, r, status, s.pages.proof, title, form)
}

// prove checks a second factor and redirects to next.
func (s *Site) prove(w http.ResponseWriter, r *http.Request) {
	next := localPath(r.PostForm.Get(fieldNext))
	v, ok := s.asked(w, r, next)
	if !ok || !s.current(w, r, v, r.URL.Path) {
		return
	}
	secret, err := s.factors.Prove(r.Context(), s.cookies.session.read(r), people.FactorProof{
		Code: r.PostForm.Get(fieldCode), Passkey: passkeyAnswer(r), RequestID: requestID(r),
	})
	if e := core.AsError(err); err != nil {
		switch e.Code {
		case core.CodeInvalidKey:
			s.AskToSignIn(w, next)
		case core.CodeInternalError, core.CodeTemporarilyUnavailable:
			s.Fail(w, r, err)
		default:
			s.logRefusal(r, "second factor", e)
			s.askProof(w, r, v, next, e)
		}
		return
	}
	s.letIn(w, r, secret)
	seeOther(w, orHome(next))
}

// asked returns the person whose second factor is requested. When it returns false, it
// has written the response: a redirect to the sign-in page, or an error.
func (s *Site) asked(w http.ResponseWriter, r *http.Request, next string) (people.Visitor, bool) {
	v, err := s.factors.Asked(r.Context(), s.cookies.session.read(r))
	if IsSignedOut(err) {
		s.AskToSignIn(w, next)
		return people.Visitor{}, false
	}
	if err != nil {
		s.Fail(w, r, err)
		return people.Visitor{}, false
	}
	return v, true
}

// current checks the form's token. When it returns false, it has written the response.
func (s *Site) current(w http.ResponseWriter, r *http.Request, v people.Visitor, question string) bool {
	if v.FormTokenMatches(r.PostForm.Get(fieldToken), question) {
		return true
	}
	s.Refuse(w, r, http.StatusForbidden, "This page was no longer current", "Nothing was done. Open the page again and repeat it there.")
	return false
}

// logRefusal logs the code of a refusal. It omits the text, which may contain what the
// person typed.
func (s *Site) logRefusal(r *http.Request, of string, e *core.Error) {
	s.log.LogAttrs(r.Context(), slog.LevelInfo, "proof refused",
		slog.String("request_id", requestID(r)), slog.String("of", of), slog.String("outcome", string(e.Code)))
}

func passkeyAnswer(r *http.Request) people.PasskeyAnswer {
	return people.PasskeyAnswer{Ceremony: r.PostForm.Get(fieldCeremony), Answer: r.PostForm.Get(fieldAnswer)}
}

func retryLater(w http.ResponseWriter, e *core.Error) {
	if e.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(e.RetryAfter.Seconds()))))
	}
}

func orHome(next string) string {
	if next == "" {
		return SignInPath
	}
	return next
}
