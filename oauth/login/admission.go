package login

import (
	"net/http"
	"net/url"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/core/throttle"
	"github.com/mailhelm/mailhelm/oauth/proxies"
)

// Admission identifies the person who sent a request, by means of the session cookie. It
// redirects people who still must sign in or prove a second factor.
type Admission struct {
	*Frame
	sessions *people.Sessions
	factors  *people.SecondFactors
	cookies  cookies
	proxies  proxies.Trusted
	surround Surround // nil for none
}

// Visitor returns the person who sent the request. It fails with invalid_key if the session
// cookie is missing or invalid.
func (a *Admission) Visitor(r *http.Request) (people.Visitor, error) {
	return a.sessions.Current(r.Context(), a.cookies.session.read(r))
}

// RememberWrite sets a cookie in the browser that expires after a time, which is counted from the
// answer and rounded up to seconds.
func (a *Admission) RememberWrite(w http.ResponseWriter, lasts time.Duration) {
	c := a.cookies.wrote
	c.life = lasts.Truncate(time.Second) + time.Second
	c.set(w, "1")
}

// WroteLately reports whether the request has the cookie of RememberWrite. A visitor can forge it,
// so it must not permit anything.
func (a *Admission) WroteLately(r *http.Request) bool {
	return len(r.CookiesNamed(a.cookies.wrote.name)) > 0
}

// Admit returns the signed-in person. If it returns false, it has written the response: a
// redirect to the sign-in page, or an error. If the organization requires a second factor,
// it redirects to the page that sets one up or the page that asks for it.
func (a *Admission) Admit(w http.ResponseWriter, r *http.Request) (people.Visitor, bool) {
	return a.AdmitTo(w, r, returnPath(r))
}

// AdmitTo returns the signed-in person. If it returns false, it has written the response, a
// redirect or an error, as Admit does. next is the path of this host to which the browser
// returns after signing in.
func (a *Admission) AdmitTo(w http.ResponseWriter, r *http.Request, next string) (people.Visitor, bool) {
	visitor, ok := a.signedInVisitor(w, r, next)
	if !ok {
		return people.Visitor{}, false
	}
	demand, err := a.factors.Demand(r.Context(), visitor)
	if err != nil {
		a.Fail(w, r, err)
		return people.Visitor{}, false
	}
	return visitor, a.meetDemand(w, demand, next)
}

// Confirm checks that the person proved a second factor in the last ten minutes, if the
// organization requires one. If it returns false, it has written the response: a redirect
// to the page that asks for a second factor or sets one up, or an error. After that page
// the browser goes to next, a path of this host.
func (a *Admission) Confirm(w http.ResponseWriter, r *http.Request, v people.Visitor, next string) bool {
	demand, err := a.factors.DemandLately(r.Context(), v)
	if err != nil {
		a.Fail(w, r, err)
		return false
	}
	return a.meetDemand(w, demand, next)
}

// meetDemand returns true if demand is people.NoDemand. Otherwise the person must first set
// up or prove a second factor. It then redirects to the page for that and returns false.
func (a *Admission) meetDemand(w http.ResponseWriter, demand people.Demand, next string) bool {
	switch demand {
	case people.DemandSetUp:
		seeOther(w, withNext(SecurityPath, localPath(next)))
	case people.DemandProof:
		seeOther(w, withNext(ConfirmPath, localPath(next)))
	case people.NoDemand:
		return true
	}
	return false
}

// signedInVisitor returns the signed-in person without checking whether the organization
// requires a second factor. The pages that set up second factors use it. If it returns
// false, it has written the response.
func (a *Admission) signedInVisitor(w http.ResponseWriter, r *http.Request, next string) (people.Visitor, bool) {
	visitor, err := a.Visitor(r)
	if IsSignedOut(err) {
		a.AskToSignIn(w, next)
		return people.Visitor{}, false
	}
	if err != nil {
		a.Fail(w, r, err)
		return people.Visitor{}, false
	}
	return visitor, true
}

// AskToSignIn redirects to the sign-in page. After signing in, the browser goes to next, a
// path of this host with its query.
func (a *Admission) AskToSignIn(w http.ResponseWriter, next string) {
	seeOther(w, signInAddress(next))
}

// Organizations returns the organizations that the person belongs to and may switch to.
func (a *Admission) Organizations(r *http.Request, v people.Visitor) ([]core.Org, error) {
	return a.sessions.Organizations(r.Context(), v.User.ID)
}

// clientOf returns the IP network that a request came from, for counting sign-in attempts.
// It uses forwarding headers only from trusted proxies, because anyone can send them.
func (a *Admission) clientOf(r *http.Request) string {
	return throttle.NetworkOf(a.proxies.Remote(r))
}

// returnPath returns the path to open after signing in: the requested page. It returns ""
// for a submitted form, because the form would be lost.
func returnPath(r *http.Request) string {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return ""
	}
	return localPath(r.URL.RequestURI())
}

// withNext returns path with the query parameter next, or path alone if next is "".
func withNext(path, next string) string {
	if next == "" {
		return path
	}
	return path + "?" + url.Values{"next": {next}}.Encode()
}
