package login

import (
	"log/slog"
	"math"
	"net/http"
	"strconv"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/people"
)

// The names of the members of forms.
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
	// fieldReset marks the address of a page to which a form of passwords leads.
	fieldReset = "password-set"
)

// proofForm is what the pages show that ask for a second factor.
type proofForm struct {
	Action, Next, Token string
	Problem             string // "" when nothing is wrong
	Email               string
	// Codes and Passkeys are the ways there are; with neither, the password is asked.
	Codes, Passkeys bool
	Awaiting        bool
}

// showProof asks for a second factor: on /login/second-factor of a session that
// awaits it, on /login/confirm of one that is open.
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

// askProof shows the page, with what was wrong if something was.
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

// prove takes a second factor and lets its person in.
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

// asked finds whose second factor is asked for, or leads to the sign-in page.
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

// current holds a form to its token. It has answered when it returns false.
func (s *Site) current(w http.ResponseWriter, r *http.Request, v people.Visitor, question string) bool {
	if v.FormTokenMatches(r.PostForm.Get(fieldToken), question) {
		return true
	}
	s.Refuse(w, r, http.StatusForbidden, "This page was no longer current", "Nothing was done. Open the page again and repeat it there.")
	return false
}

// logRefusal notes what was refused, and never why: it may hold what was typed.
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
