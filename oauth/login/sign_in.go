package login

import (
	"log/slog"
	"math"
	"net"
	"net/http"
	"net/netip"
	"strconv"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
)

// signInForm is what the sign-in page shows. A password is never shown again.
type signInForm struct {
	Next, Email string
	Problem     string // "" when nothing is wrong
}

// showSignIn shows the form, or to somebody who is signed in who that is.
func (s *Site) showSignIn(w http.ResponseWriter, r *http.Request) {
	next := localPath(r.URL.Query().Get("next"))
	visitor, err := s.Visitor(r)
	switch {
	case IsSignedOut(err):
		s.Show(w, r, http.StatusOK, s.pages.signIn, "Sign in", signInForm{Next: next})
	case err != nil:
		s.Fail(w, r, err)
	case next != "":
		seeOther(w, next)
	default:
		s.showAccount(w, r, visitor)
	}
}

func (s *Site) showAccount(w http.ResponseWriter, r *http.Request, visitor access.Visitor) {
	orgs, err := s.Organizations(r, visitor)
	if err != nil {
		s.Fail(w, r, err)
		return
	}
	s.Show(w, r, http.StatusOK, s.pages.account, "Signed in", account{Visitor: visitor, Organizations: orgs})
}

func (s *Site) signIn(w http.ResponseWriter, r *http.Request) {
	form := signInForm{Next: localPath(r.PostForm.Get("next")), Email: r.PostForm.Get("email")}
	secret, err := s.sessions.SignIn(r.Context(), access.SignInRequest{
		Email: form.Email, Password: r.PostForm.Get("password"), Client: clientOf(r),
		Previous: s.cookie.read(r), RequestID: requestID(r),
	})
	if err != nil {
		s.signInRefused(w, r, form, core.AsError(err))
		return
	}
	s.cookie.set(w, secret)
	if form.Next == "" {
		form.Next = SignInPath
	}
	seeOther(w, form.Next)
}

func (s *Site) signInRefused(w http.ResponseWriter, r *http.Request, form signInForm, e *core.Error) {
	if e.Code == core.CodeInternalError {
		s.Fail(w, r, e)
		return
	}
	s.log.LogAttrs(r.Context(), slog.LevelInfo, "sign-in refused",
		slog.String("request_id", requestID(r)), slog.String("outcome", string(e.Code)))
	form.Problem = e.Message + " " + e.NextStep()
	if e.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(e.RetryAfter.Seconds()))))
	}
	s.Show(w, r, e.HTTPStatus(), s.pages.signIn, "Sign in", form)
}

// clientOf names where a request comes from, for the throttle: an IPv4 address,
// or of an IPv6 address the first 64 bits, because one household has all the
// rest. Headers that say otherwise are not believed: anybody can send them.
func clientOf(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return ""
	}
	address, err := netip.ParseAddr(host)
	if err != nil {
		return ""
	}
	address = address.Unmap().WithZone("")
	if address.Is4() {
		return address.String()
	}
	const network = 64
	prefix, err := address.Prefix(network)
	if err != nil {
		return ""
	}
	return prefix.String()
}
