package login

import (
	"net/http"
	"net/url"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/core/throttle"
	"github.com/mailhelm/mailhelm/oauth/proxies"
)

// Admission identifies the visitor of a request by the session cookie, and redirects
// visitors who still have to sign in or prove a second factor.
type Admission struct {
	*Frame
	sessions *people.Sessions
	factors  *people.SecondFactors
	cookies  cookies
	proxies  proxies.Trusted
}

// Visitor returns the person who sent the request. It fails with invalid_key when no
// person is signed in.
func (a *Admission) Visitor(r *http.Request) (people.Visitor, error) {
	return a.sessions.Current(r.Context(), a.cookies.session.read(r))
}

// Admit returns the signed-in visitor. When it returns false, it has written the
// response: a redirect to the sign-in page, or an error. Where the organization requires
// a second factor, it redirects to the page for setting one up or for proving it.
func (a *Admission) Admit(w http.ResponseWriter, r *http.Request) (people.Visitor, bool) {
	return a.AdmitTo(w, r, returnPath(r))
}

// AdmitTo is Admit with the path to return to after signing in. next is a path of this
// host.
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

// Confirm requires a second factor proven in the last ten minutes, if the visitor's
// organization requires one. When it returns false, it has redirected to the proof;
// afterwards the browser returns to next, a path of this host.
func (a *Admission) Confirm(w http.ResponseWriter, r *http.Request, v people.Visitor, next string) bool {
	demand, err := a.factors.DemandLately(r.Context(), v)
	if err != nil {
		a.Fail(w, r, err)
		return false
	}
	return a.meetDemand(w, demand, next)
}

// meetDemand reports whether there is no demand. Otherwise it redirects to the page where the
// demand is met.
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

// signedInVisitor returns the visitor without checking the organization's demands. It is for
// the pages on which second factors are set up. When it returns false, it has written
// the response.
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

// AskToSignIn redirects to the sign-in page, which continues to next, a path of this
// host with its query.
func (a *Admission) AskToSignIn(w http.ResponseWriter, next string) {
	seeOther(w, signInAddress(next))
}

// Organizations returns the organizations that the visitor may switch to.
func (a *Admission) Organizations(r *http.Request, v people.Visitor) ([]core.Org, error) {
	return a.sessions.Organizations(r.Context(), v.User.ID)
}

// clientOf returns the network of the request's client, for counting attempts. It uses
// forwarding headers of trusted proxies only, because anyone can send such headers.
func (a *Admission) clientOf(r *http.Request) string {
	return throttle.NetworkOf(a.proxies.Remote(r))
}

// returnPath returns the path to come back to after signing in: the requested page. It
// returns "" after a form, because a form is not submitted again.
func returnPath(r *http.Request) string {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return ""
	}
	return localPath(r.URL.RequestURI())
}

// withNext returns path with next as its parameter, or path alone when next is "".
func withNext(path, next string) string {
	if next == "" {
		return path
	}
	return path + "?" + url.Values{"next": {next}}.Encode()
}
